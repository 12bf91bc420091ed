public import Foundation
// Its public types: SQLValue, FreshetError, ErrorCode.
@_exported public import LiveQuery

/// Where a row is: its section, and its place in it.
///
/// Foundation's, so that table and collection views take it as it is.
public typealias IndexPath = Foundation.IndexPath
