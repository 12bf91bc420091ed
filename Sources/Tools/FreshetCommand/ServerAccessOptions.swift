import ArgumentParser

/// Options of commands that talk to a server.
struct ServerAccessOptions: ParsableArguments {
  @Option(
    name: .customLong("token"),
    help: ArgumentHelp(
      "A JSON Web Token that says who is asking; other users of the machine can see it here, but not in FRESHET_TOKEN.",
      valueName: "token"))
  private var tokenOption: String?

  @OptionGroup var trust: TrustOptions

  var token: String? { tokenOption ?? Variables.text("FRESHET_TOKEN") }
}

/// Options for the authorities that are trusted for a server's certificate.
struct TrustOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Trust the certificates of these authorities, in PEM format, instead of those that the system trusts.",
      valueName: "file"))
  var ca: String?
}
