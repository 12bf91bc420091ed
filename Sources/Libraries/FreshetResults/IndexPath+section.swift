public import Foundation
package import LiveQuery

#if !canImport(UIKit) && !canImport(AppKit)
  // Same as in UIKit and AppKit.
  extension IndexPath {
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// The section's index.
    public var section: Int { self[0] }

    /// The row's index in its section.
    public var item: Int { self[1] }
  }
#elseif canImport(AppKit)
  import AppKit
#else
  import UIKit
#endif

extension IndexPath {
  package init(_ path: LiveQuery.IndexPath) { self.init(item: path.item, section: path.section) }
}
