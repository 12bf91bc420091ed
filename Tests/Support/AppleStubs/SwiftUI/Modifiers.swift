public enum VerticalEdge: Int8, Sendable { case top, bottom }

public struct Animation: Equatable, Sendable {
  public static let `default` = Animation()
}

public struct Font: Hashable, Sendable {
  public static let footnote = Font()
}

extension View {
  public nonisolated func navigationTitle<S: StringProtocol>(_ title: S) -> some View { self }
  public nonisolated func animation<V: Equatable>(_ animation: Animation?, value: V) -> some View { self }
  public nonisolated func overlay<V: View>(@ViewBuilder content: () -> V) -> some View { self }
  public nonisolated func safeAreaInset<V: View>(edge: VerticalEdge, @ViewBuilder content: () -> V) -> some View {
    self
  }
  public nonisolated func font(_ font: Font?) -> some View { self }
  public nonisolated func onDisappear(perform action: (() -> Void)? = nil) -> some View { self }
  public nonisolated func task<T: Equatable>(
    id value: T, priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
  ) -> some View { self }
}
