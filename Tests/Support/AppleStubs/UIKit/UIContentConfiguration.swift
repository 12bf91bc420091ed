@MainActor @preconcurrency public protocol UIContentConfiguration {}

public struct UIListContentConfiguration: UIContentConfiguration {
  public var text: String?
  public var secondaryText: String?

  public static func plainHeader() -> UIListContentConfiguration { fatalError() }
}

@MainActor public struct UIContentUnavailableConfiguration: UIContentConfiguration {
  public struct ButtonProperties {
    public var primaryAction: UIAction?
  }

  public var text: String?
  public var secondaryText: String?
  public var button: UIButton.Configuration
  public var buttonProperties: ButtonProperties

  public static func empty() -> UIContentUnavailableConfiguration { fatalError() }
  public static func loading() -> UIContentUnavailableConfiguration { fatalError() }
}

@MainActor open class UIButton: UIView {
  public struct Configuration {
    public var title: String?
    public static func borderless() -> Configuration { fatalError() }
  }
}
