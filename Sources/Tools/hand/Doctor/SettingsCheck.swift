import HandFormats

/// Whether the settings can be read, and which server, token and name they give.
enum SettingsCheck {
    static func all(_ user: UserOptions) -> [Diagnosis] {
        do {
            _ = (try Settings.keys(), try Settings.notices())
            let misspelt = try CommandEnvironment.misspelt().map {
                Diagnosis.warning("settings", $0, do: "set the variable that was meant, or unset this one")
            }
            return try [server(flag: user.url), token(flag: user.url), name(user)] + misspelt
        } catch {
            return [.problem("settings", Failure(error).message)]
        }
    }

    private static func server(flag: String?) throws -> Diagnosis {
        let place = try Settings.place(flag: flag, list: nil)
        let origin = try flag.map { _ in "--url" } ?? layer(.url)?.origin(.url)
        let reason =
            origin.map { "from \($0)" }
            ?? "because --url, a context, $HAND_URL and \(Settings.configurationFile) name none"
        return .ok("settings", "the server is \(place), \(reason)")
    }

    private static func token(flag: String?) throws -> Diagnosis {
        let place = try Settings.place(flag: flag, list: nil)
        if let reason = Settings.withheld(from: place.server) {
            return .warning(
                "token", reason,
                do: "use the server that the token is for, or store both together: hand context add NAME ADDRESS")
        }
        return try Settings.token(for: place.server, in: place.token) == nil
            ? .ok("token", "none: you are a guest") : .ok("token", "there is one for this server")
    }

    private static func name(_ user: UserOptions) throws -> Diagnosis {
        let origin = try user.person.map { _ in "--as" } ?? layer(.name)?.origin(.name)
        let reason = origin.map { "from \($0)" } ?? "the system's name for you; change it with $HAND_NAME or --as"
        // A token has a name of its own, which the server tells.
        return .ok("name", "your name is \(try user.name()), \(reason)")
    }

    private static func layer(_ key: Settings.Key) throws -> Settings.Layer? {
        try Settings.layers().first { $0.text(key) != nil }
    }
}
