public import Foundation
// Its public types: SQLValue, FreshetError, ErrorCode.
@_exported public import LiveQuery

/// The position of a row: its section, and its index in the section.
///
/// Foundation's type, so that table and collection views accept it.
public typealias IndexPath = Foundation.IndexPath
