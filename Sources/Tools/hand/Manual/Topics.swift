/// The texts of `hand help TOPIC`: what a user should understand beyond single commands. A line that begins with a
/// space is not wrapped.
struct Topic {
    let name: String
    let summary: String
    let text: String

    private init(_ name: String, _ summary: String, _ text: String) {
        (self.name, self.summary, self.text) = (name, summary, text)
    }

    static let all = [
        Topic("merging", "what happens to edits that people make at the same time", mergingText),
        Topic("news", "what others have changed, who did what, and how to be told", newsText),
        Topic("tasks", "who does a task, when it is due, and reminders", tasksText),
        Topic("sub-items", "items below items: levels, and folding them", subitemsText),
        Topic("order", "keeping a list in order: sorting, unticking, other lists, finding", orderText),
        Topic("offline", "working without the server", offlineText),
        Topic("formats", "files of other programs: what is read from them, and what is written", formatsText),
        Topic("scripts", "JSON, exit codes and environment variables, for programs that run hand", scriptsText),
        Topic("tls", "a server that others reach over a network, and its certificate", tlsText),
        Topic("roles", "who may do what: tokens, roles and links", rolesText),
        Topic("decks", "lists of cards, dealt from a deck", decksText),
        Topic("backups", "copies of a server's lists, and how to restore them", backupsText),
    ]

    /// The overview of all topics.
    static var overview: String { all.map { Output.padded($0.name, 11) + $0.summary }.joined(separator: "\n") }

    private static let mergingText = """
        Everybody edits a copy of the list and sees their own edits at once. The server puts all edits into one order and sends each \
        edit to everybody, and every copy applies it. In the end, all copies are the same.

        If two people add items at the same place, both items are added. If two people edit the same text, both keep their words. If \
        somebody else has moved an item, your edit of its text still reaches it, because an edit refers to an item, not to a line.

        An edit is lost only if it conflicts with another: two people move the same item, or replace the same words. Then the later \
        edit wins, which is the one that the server received later. An edit of an item that somebody has deleted is dropped. You \
        always learn what you have lost, and to whom: 'hand open' shows it, and R gets it back; other commands print it, or the \
        next one does if the loss comes later, and 'hand rejected' gets it back.

        To make sure that nothing has changed since you looked, state what you saw:

          hand edit 3 "oat milk, 2 l" --was "oat milk"
          hand rm 2 --if-revision 12

        The first keeps what others have written elsewhere in the text, and is refused if they have changed the same words. The \
        second is refused if anything in the list has changed. A refused edit changes nothing, and the exit code is 7. 'hand log' \
        shows who did what. 'hand undo' takes back your own \
        edits; 'hand undo --help' says what stays.
        """

    private static var scriptsText: String {
        let codes = CommandEnvironment.exitCodes.map { " \($0.rawValue)  \($0.summary)" }
        let variables = CommandEnvironment.variables.filter { $0.sides.contains(.client) }.map(\.name)
        return """
            With --json, a command prints one JSON object on a line for each item, commit or list, and nothing else. What a member means \
            stays; later versions may add members. Messages for people go to standard error, and -q leaves out those that are not about \
            failures.

              hand ls --json
              hand watch --json

            Numbers of items change when others edit the list. Scripts name an item by its "id", which stays. A command that changes the \
            list prints the "revision" that it has made; it is null, and "waits" is true, if --queue has kept the edit on this machine.

              hand add "oat milk" --queue --json

            To change the list only if it still is what the script has read, give its revision with --if-revision ('hand help merging').

            The exit code tells what to do next. With 6, nothing was changed. With 8, look before you repeat the command. A command that \
            a signal ends has the shell's code for that, such as 130.

            \(codes.joined(separator: "\n"))

            Options that are left out come from environment variables, if they are set; the manual page hand(1) explains them: \
            \(variables.joined(separator: ", ")).
            """
    }

    private static let newsText = """
        This machine remembers how much of each list you have seen: what 'hand open' showed, and what 'hand ls' or 'hand log' printed \
        to a terminal. 'hand ls --new' does not count: it shows nothing of what was deleted or moved. What others have added or changed \
        since then is new.

        In 'hand open', the lists say what is new in them, and by whom; s puts those first. In a list, new items have a + and changed \
        ones a ~; n leads to the next, N to the previous. A mark goes when the cursor has been on the item, or when the item has been \
        on the screen for some seconds.

          hand lists --new            the lists in which others have changed something
          hand ls --new               only what is new
          hand log --new              who changed it

        Who added an item, and who changed it, is on its page in 'hand open', where H shows every step. Commands tell it, too:

          hand log 3
          hand show 3

        'hand open' tells you of changes while you look at another window, by the bell and, if the terminal can, on the desktop. Ask for \
        it in ~/.config/hand/config.toml:

         notify = "mine"              what names you, and edits of yours that others
                                      override; or "all", or "off"

        'hand watch --notify' does so on the desktop, and 'hand watch --exec' runs a program for each commit.
        """

    private static let tasksText = """
        Words in a text say who does a task, and when it is due, as todo.txt writes them: taxes @ada due:2026-12-01. They have colours: \
        the day is red if it has passed, and yellow if it is today. In 'hand open', @ shows only what names you, and T only what is due \
        today, or this week. Ticked tasks are not due.

          hand ls --mine
          hand ls --due overdue
          hand ls --mine --due today --json

        The system can remind you each morning. Write ~/.config/systemd/user/hand-due.service:

         [Service]
         Type=oneshot
         ExecStart=sh -c 'due=$(hand ls --mine --due today); \\
             [ -z "$due" ] || notify-send Today "$due"'

        Then write hand-due.timer next to it, and run systemctl --user enable --now hand-due.timer:

         [Timer]
         OnCalendar=08:00
         Persistent=true

         [Install]
         WantedBy=timers.target
        """

    private static let subitemsText = """
        An item has a level, from 0 to 15, and is shown further right than the item above it, by one step at most. Its sub-items are \
        those below it that are shown further right, up to the next that is not.

        In 'hand open', tab moves an item one level further in, with its sub-items, and shift-tab further out. Moving, dragging, cutting \
        and copying an item take its sub-items along. d deletes the item alone, and its sub-items come one level further out; D deletes \
        them, too. Ticking changes only the item. What you put between an item and its sub-items becomes one of them.

        z folds an item: its sub-items are hidden, and its line says how many they are, how many of them are done, and who is on them. \
        On an item without sub-items, z folds the item that it belongs to. z again unfolds it. Z folds all items, or unfolds all if \
        any is folded. What is hidden goes with its item, even if you delete it with d. New items come below it.

        Going to a hidden item, or moving an item to where it would be hidden, unfolds what hides it. / finds hidden items, too. What you \
        fold stays folded on this machine. Nobody else sees it.

        Commands take sub-items along, too, unless you say otherwise:

          hand add pegs --under 1     as the last sub-item of item 1
          hand add car --after 1      at the level of item 1, after its sub-items
          hand mv 2 --top             with its sub-items
          hand mv 2 --top --alone     without them
          hand edit 3 --level 1       at level 1, with its sub-items
        """

    private static let orderText = """
        Sorting is one edit, which one undo takes back. Items are sorted among those of the same level, with their sub-items. Equal \
        items keep their order, and headings their places: the items between two headings are sorted.

          hand sort                   by text: 2 comes before 10, whatever the case
          hand sort --by done         ticked tasks last
          hand sort --by due          what is due first: due:2026-12-01 in a text
          hand sort --by newest       what was added last first
          hand sort 3-9 --reverse     some items only, the other way round

        In 'hand open', = sorts the whole list or the selection. B shows ticked tasks last, a moment after the tick: only your screen \
        changes, the list stays as it is.

        Next week's shopping: 'hand undone --all', or X in the screen, unticks all tasks. 'hand clear', or S, deletes them instead.

        Items go to other lists with their sub-items. The other list takes the copies first; only when the server has written them, \
        the originals are deleted. If either list refuses, a message says which one, and no item is lost. In the screen, m moves the \
        selection to another list, and M copies it.

          hand mv 3 --to work         to the end of another list
          hand mv 3 --to work --top   to its top
          hand cp 3 5-7 --to work     copies, each with its own id
          hand cp 3 --after 3         within the list

        To find an item in any list:

          hand find milk                in all lists of the server
          hand find --mine --due week   what you have to do this week
          hand find milk --offline      in this machine's copies

        In the screen, / in a list shows the items that contain a text, and / among the lists those whose names do.
        """

    private static let offlineText = """
        'hand open' keeps a copy of each list that you open on this machine, and stores every edit here before it is sent. When the \
        server cannot be reached, 'hand open' works with this copy. As soon as the server is back, your edits are merged with what \
        others have done in the meantime (see 'hand help merging'). An edit is never made twice, whatever happens in between.

        Other commands work without the server if you ask for it:

          hand add --queue eggs       keeps the edit if the server cannot be reached
          hand ls --offline           shows this machine's copy
          hand sync                   sends the waiting edits
          hand sync --discard         discards the waiting edits of one list

        'hand doctor' reports whether edits are waiting. Copies and waiting edits are in ~/.local/state/hand/clients, by server. Do \
        not copy this folder to another machine while edits are waiting in it. Otherwise both machines send them, and one \
        of them notices this, reports it and takes a new identity.

        What you are typing when the terminal closes is kept in drafts, in the same folder. 'hand open' offers it again when you open \
        that list.

        If the server refuses an edit, or somebody overrides it, nothing of it is lost: 'hand rejected' shows what there is, makes it \
        again, or prints it as text. If a command got no answer after it had sent its edit, it exits with 8: do not repeat it. The \
        next command on the server sends the edit once more if it did not arrive, and says what became of it.

        If the server restores the list from a backup, your unsent edits are sent to it. If the list is gone, or another list has \
        its name, they wait: 'hand sync --discard' drops them.
        """

    private static let formatsText = """
        'hand export' writes a list to a file, 'hand import' adds a file's items to a list. --format or the file's extension selects \
        the format, or else the contents, except Markdown and todo.txt. An import says what it leaves out.

        jsonl (.jsonl): one JSON object per line; the only format that keeps the items' ids. A line needs only "text": without "kind" \
        it is a task, with "url" a link, with "card" a card.

        markdown (.md): list items become tasks, links and notes, headings become headings, and other blocks notes that end with a \
        line break. --tasks makes tasks of list items without a box. An export writes what was not edited as it was, except for \
        blank lines, indentation, spaces at line ends, the marks and numbers of list items, and X for x.

        todotxt (.txt): every line is a task; priority, dates, tags, indentation and marks such as # or - stay in its \
        text (--format markdown reads marks). Blank lines are not kept. An \
        export marks what todo.txt does not have: kind:note, level:1, and escaped:percent where a text has line breaks.

        csv (.csv): the first line names the columns: text, done, level, kind, url, due. Only text is needed. An export has no due, \
        which is in the text, and escaped, which says how the text is written. Names such as title, \
        completed and deadline are known, too, and semicolons or tabs instead of commas. A spreadsheet may take a text that begins \
        with = for a formula: open all columns as text.

        The others are only read:

        org (.org): headlines with TODO, DONE or a keyword from #+TODO become tasks, others headings. List items become tasks and \
        notes, and other text notes. Priorities and tags stay in the text. Scheduled days, drawers, settings, clocked times and \
        comments are not kept.

        icalendar (.ics): VTODOs become tasks, below those that they are related to; descriptions become notes. Cancelled ones and \
        other properties are not kept.

        taskwarrior (.json): the output of 'task export'. Annotations become notes. Deleted tasks, templates of recurring ones and \
        other fields are not kept.

        The day that a task is due is put into its text: taxes due:2026-12-01.
        """

    private static let tlsText = """
        By default, a server listens on its own machine only. To let others in, it needs a certificate, so that nobody on the network \
        can read or change the traffic, and tokens, which identify the users (see 'hand help roles').

        Get a certificate from an authority, such as Let's Encrypt, or make one for your own users:

          openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \\
              -nodes -days 365 -subj /CN=lists \\
              -addext subjectAltName=DNS:lists.example.org,IP:127.0.0.1 \\
              -keyout lists.key -out lists.pem
          hand serve --listen 0.0.0.0:7777 --tls-cert lists.pem --tls-key lists.key

        If hand is installed as a package, put both files into /etc/hand, let the server's user read them (chgrp hand \
        /etc/hand/lists.key; chmod 640 /etc/hand/lists.key), set listen, tls-cert and tls-key in /etc/hand/serve.toml, and start the \
        server: systemctl enable --now hand. Root's commands ('hand token', 'hand backup') then use this server's settings.

        The users' address then begins with hands://. If you made the certificate yourself, they also need a copy of lists.pem, \
        which is not secret:

          hand context add work hands://lists.example.org --ca lists.pem --ask-token
          hand -c work lists

        Anybody whose role is write or admin makes the first list: hand -c work create groceries. On the server's machine, no token is \
        needed, but the certificate must name the address:

          HAND_CA=/etc/hand/lists.pem hand create groceries --url hands://127.0.0.1

        To use a new certificate, run 'systemctl reload hand', or send SIGHUP to the server. 'hand doctor' shows how long a \
        certificate is still valid.
        """

    private static let rolesText = """
        By default, every user of the server's machine may do everything, and nobody may do anything over a network without a token. \
        To change this, use 'hand token guests --remote read', for example.

        A token is a secret for one person. It gives a role on all lists or on some. Each role includes the roles before it:

          none      nothing
          read      follow lists, and read their history
          append    add items
          write     all other edits, and make lists
          admin     delete, bring back and rename lists

        A list is made, or gets another name, only with the role write on all lists: the name may be anybody's.

        Make a token on the server's machine, as the server's user (as root, if hand is installed as a package), and give its secret \
        to the person:

          hand token create ada --role write
          hand token create bob --role read --list groceries --expires 7d

        They store it together with the server's address, so that it is sent to no other server:

          hand context add work hands://lists.example.org --ask-token

        For one list, a link is easier. Anybody who has the link can use the list:

          hand share groceries --as Bob

        'hand token list' shows all tokens; 'hand token grant' and 'hand token revoke' change them. Changes take effect within a \
        second, also for open connections. Over a network, tokens and links need TLS (hands://): otherwise others could read them.
        """

    private static let decksText = """
        A list can have a deck: 52 cards, shuffled by the server when the list is made. All cards of the list come from its deck, so \
        nobody is ever dealt a card that somebody holds.

          hand create poker --deck --max-items 5 --kinds card
          hand deal 5 -l poker
          hand rm 2 -l poker

        A deleted card goes to the bottom of the deck, and comes up again after all the others. Only the server knows the order of \
        the deck. 'hand add --card' takes a card that you name, if nobody holds it.

        The rules of a list also limit how many items it may hold and of which kinds. An edit that breaks a rule is refused as a \
        whole; the message names the rule, and the exit code is 4.
        """

    private static let backupsText = """
        A server writes every edit to its disk before it acknowledges the edit. Backups protect against the loss of that disk. A \
        backup is one file. It is made while the server runs, and checked after it is written.

          hand backup lists.backup           on the server's machine
          hand admin backup lists.backup     written by the server's user
          hand verify lists.backup           replays every edit

        To restore a backup, stop the server first:

          hand recover lists.backup --replace

        If hand is installed as a package, run these commands as root: they use the store that /etc/hand/serve.toml names, by \
        default in /var/lib/hand. There, 'hand admin backup' can write only to the folders that 'hand help unit' explains.

        The existing store is moved aside, not deleted. Clients that reconnect keep the edits that they had not sent. Edits that \
        were acknowledged after the backup was made are gone from the lists.

        A damaged backup is refused. 'hand recover --salvage' restores what is sound of it, or of a damaged store, and prints what \
        is lost.

        'hand backup', 'hand verify' and 'hand recover' also work on the database of several servers, with --store postgres://…. \
        'hand store copy' copies all lists between a folder and a database.
        """
}
