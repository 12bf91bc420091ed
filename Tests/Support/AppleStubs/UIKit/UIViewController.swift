// UIKit exports it.
@_exported public import Foundation

@MainActor open class UIResponder {
  public init() {}
}

@MainActor open class UIView: UIResponder {}

@MainActor open class UIViewController: UIResponder {
  open var title: String?
  open var navigationItem: UINavigationItem { fatalError() }
  open var contentUnavailableConfiguration: (any UIContentConfiguration)?

  public init(nibName: String?, bundle: Bundle?) {}
  public required init?(coder: NSCoder) {}

  open func viewDidLoad() {}
  open func viewWillAppear(_ animated: Bool) {}
  open func viewDidDisappear(_ animated: Bool) {}
}

@MainActor open class UINavigationController: UIViewController {
  public init(rootViewController: UIViewController) { super.init(nibName: nil, bundle: nil) }
  public required init?(coder: NSCoder) { fatalError() }
}

@MainActor open class UINavigationItem {
  open var prompt: String?
}

@MainActor open class UIAction {
  public init(title: String = "", handler: @escaping (UIAction) -> Void) {}
}
