import HandFormats

/// The texts of `hand help TOPIC`: what a user should understand beyond single commands. A line that begins with spaces stands as it is.
enum Topic: String, CaseIterable {
    case merging, offline, tls, roles, decks, backups

    var summary: String {
        switch self {
        case .merging: "what becomes of edits that people make at the same time"
        case .offline: "working without the server"
        case .tls: "a server that others reach over the network, and its certificate"
        case .roles: "who may do what: tokens, roles and links"
        case .decks: "lists of cards, dealt from a deck"
        case .backups: "copies of a server's lists, and their way back"
        }
    }

    /// The overview of all topics.
    static var overview: String {
        allCases.map { topic in
            topic.rawValue.padding(toLength: 10, withPad: " ", startingAt: 0) + topic.summary
        }.joined(separator: "\n")
    }

    var text: String {
        switch self {
        case .merging: Self.mergingText
        case .offline: Self.offlineText
        case .tls: Self.tlsText
        case .roles: Self.rolesText
        case .decks: Self.decksText
        case .backups: Self.backupsText
        }
    }

    private static let mergingText = """
        Everybody edits a copy of the list, and sees what they do at once. The server puts all edits in one order and sends each to \
        everybody, who brings it into the copy. In the end all have the same list.

        Two who add items at the same place get both. Two who write in the same text both keep their words. Where an item was moved \
        by somebody else, your edit of its text still reaches it, because an edit means an item and not a line.

        Only where two want what cannot both be does one lose: two move the same item, or two replace the same words. Then the later \
        edit counts, that is the one that the server got later. An edit of an item that somebody has deleted is dropped. Whoever \
        loses something reads what, and to whom: 'hand open' says so and brings it back with R; commands print it.

        To be sure that nothing has changed since you looked, say what you saw:

          hand edit 3 "oat milk, 2 l" --was "oat milk"
          hand rm 2 --if-revision 12

        If it has changed, nothing is done, and the exit code is 7. 'hand log' shows who did what, 'hand undo' takes your own edits \
        back and leaves those of others.
        """

    private static let offlineText = """
        What you have opened with 'hand open' is kept on this machine, and so is every edit, before it is sent. Without the server \
        'hand open' goes on with what is kept. As soon as the server is back, your edits are merged with what others have done \
        meanwhile (see 'hand help merging'). An edit is never made twice, whatever happens in between.

        Commands work without the server if they are told so:

          hand add --queue eggs       keeps the edit, if the server cannot be reached
          hand ls --offline           shows what this machine keeps
          hand sync                   sends what waits
          hand sync --discard         throws it away

        'hand doctor' says whether something waits. What is kept is in ~/.local/state/hand/clients, by server. Do not copy that \
        folder to another machine while edits wait in it: both would send them, and one of them is told so and takes another \
        identity.

        If the server's list is gone or was put back from a backup, edits that were not sent yet are still sent to it.
        """

    private static let tlsText = """
        By default a server listens on its own machine only. For others it needs a certificate, so that nobody on the way can read or \
        change anything, and tokens, so that it knows who is who (see 'hand help roles').

        A certificate comes from an authority, such as Let's Encrypt, or you make one for your own people:

          openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \\
              -nodes -days 365 -subj /CN=lists \\
              -addext subjectAltName=DNS:lists.example.org \\
              -keyout lists.key -out lists.pem
          hand serve --listen 0.0.0.0:7777 --tls-cert lists.pem --tls-key lists.key

        Where hand is installed as a package, put both files into /etc/hand, let the server's user read them (chgrp hand \
        /etc/hand/lists.key; chmod 640 /etc/hand/lists.key), set listen, tls-cert and tls-key in /etc/hand/serve.toml, and start it: \
        systemctl enable --now hand.

        The others write hands:// in front of the address. If you made the certificate, they need a copy of lists.pem, which is no \
        secret:

          hand context add work hands://lists.example.org --ca lists.pem --ask-token
          hand -c work lists

        After a new certificate, 'systemctl reload hand' or SIGHUP has the server read it. 'hand doctor' says how long one is good.
        """

    private static let rolesText = """
        On its own machine a server lets everybody do everything. From elsewhere nobody may do anything without a token, unless you \
        say otherwise: 'hand token guests --remote read'.

        A token is a secret for one person. It has a role, on all lists or on some. Each role includes the roles before it:

          none      nothing
          read      follow lists, and read their history
          append    add items
          write     all other edits, and make lists
          admin     delete, bring back and rename lists

        Make one where the server runs, and give the secret to the person:

          hand token create ada --role write
          hand token create bob --role read --list groceries --expires 7d

        They keep it with the server's address, so that it goes nowhere else: hand context add work hands://lists.example.org \
        --ask-token. For one list a link is easier; whoever has it can use the list: 'hand share groceries --as Bob'.

        'hand token list' shows all, 'hand token grant' and 'hand token revoke' change them. Changes count within a second, also for \
        connections that are open. Tokens and links need TLS (hands://) over a network, as others could read them otherwise.
        """

    private static let decksText = """
        A list may have a deck: 52 cards, shuffled by the server when the list is made. Cards come from it and from nowhere else, so \
        that nobody is ever dealt a card that somebody holds.

          hand create poker --deck --max-items 5 --kinds card
          hand deal 5 -l poker
          hand rm 2 -l poker

        A card that is deleted goes under the deck, and may come again when all others are out. The server alone knows the order of \
        the deck. With --card in 'hand add' you take a card that you name, as long as nobody holds it.

        The rules of a list also say how many items it may hold and of which kinds. An edit that breaks them is refused as a whole; \
        the message says which rule it was, and the exit code is 4.
        """

    private static let backupsText = """
        A server writes every edit to its disk before it says that it has it. Against the loss of that disk there are backups: one \
        file each, made while the server goes on, and checked when it is written.

          hand backup lists.backup           where the server runs
          hand admin backup lists.backup     the server's user writes it
          hand verify lists.backup           replays every edit

        To put it back, stop the server:

          hand recover lists.backup --replace

        What was there before is moved aside, not deleted. Clients that come back keep the edits that they had not sent. What was \
        acknowledged after the backup was made is gone from the lists.

        Several servers on a database (--store postgres://…) are backed up in the same way, with --store. 'hand store copy' moves \
        all lists between a folder and a database.
        """
}
