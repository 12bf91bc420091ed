@MainActor open class UIScene: UIResponder {
  open class ConnectionOptions {}
}

@MainActor open class UIWindowScene: UIScene {}

@MainActor open class UISceneSession {}

@MainActor open class UIWindow: UIView {
  open var rootViewController: UIViewController?
  public init(windowScene: UIWindowScene) {}
  open func makeKeyAndVisible() {}
}

@MainActor public protocol UISceneDelegate {
  func scene(
    _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions)
}

@MainActor public protocol UIWindowSceneDelegate: UISceneDelegate {
  var window: UIWindow? { get set }
}
