import Dunlin
import DunlinImages
import DunlinTesting
import Synchronization
import Testing

/// Notes what it shows.
private final class Wall: ImageTarget {
    private let state = Mutex<[String]>([])

    var shown: [String] { state.withLock(\.self) }

    func show(_ image: ImageBuffer?, in slot: ImageSlot) {
        guard let image else { return }
        state.withLock { $0.append(Painter.text(of: image)) }
    }
}

/// Whoever asks is given what a request of their own brings. The server gives all its pictures one date or one tag, and
/// confirms any of them to anybody.
@Suite(.timeLimit(.minutes(10))) struct `Who is given kept pictures` {
    private static func everybodyIsGivenTheirOwn(_ way: Way, _ says: Says) async throws {
        try await holding("\(way.testDescription): \(says.testDescription)") {
            let household = try Household(way, says: says)
            let given = try await household.ask(way.persons)
            #expect(given == way.persons.map(\.rawValue))
            await household.end()
        }
    }

    @Test(arguments: Way.variants, Says.all)
    func `whoever asks for another variant is given that`(way: Way, says: Says) async throws {
        try await Self.everybodyIsGivenTheirOwn(way, says)
    }

    @Test(arguments: Way.users, Says.all)
    func `another user is given their own`(way: Way, says: Says) async throws {
        try await Self.everybodyIsGivenTheirOwn(way, says)
    }

    @Test(arguments: Way.ofSessions, Says.all)
    func `another session's user is given their own`(way: Way, says: Says) async throws {
        try await Self.everybodyIsGivenTheirOwn(way, says)
    }

    @Test(arguments: Way.connections, Says.all)
    func `whoever asks by another way, or is known by it, is given what that brings`(way: Way, says: Says) async throws
    {
        try await Self.everybodyIsGivenTheirOwn(way, says)
    }

    /// What nobody was named for may be nobody's own, such as the button for the login.
    @Test(arguments: (Way.users + Way.ofSessions).filter { $0.persons.contains(.nobody) }, Says.all)
    func `whoever says who they are is not given what came for nobody`(way: Way, says: Says) async throws {
        try await holding("nobody first, \(way.testDescription): \(says.testDescription)") {
            let household = try Household(way, says: says)
            let persons = [Person.nobody, .alice, .nobody]
            let given = try await household.ask(persons)
            #expect(given == persons.map(\.rawValue))
            await household.end()
        }
    }

    // MARK: - The session's own cache

    /// What the table wants is possible: the HTTP cache does it.
    @Test(arguments: Way.all, Says.all)
    func `the session's own cache gives each their own`(way: Way, says: Says) async throws {
        let household = try Household(way, says: says, hasCache: true, hasImages: false)
        let given = try await household.ask(way.persons)
        #expect(given == way.persons.map(\.rawValue))
        await household.end()
    }

    // MARK: - The same ask again

    @Test(arguments: Way.kept, [Says.nothing, .fresh])
    func `whoever asks again is given theirs from memory, and nothing is sent`(way: Way, says: Says) async throws {
        try await holding("again, \(way.testDescription): \(says.testDescription)") {
            let household = try Household(way, says: says)
            #expect(try await household.ask(.alice) == "alice")
            let count = household.painter.asked.count
            let again = try await household.askAgain(.alice)
            #expect(again.text == "alice" && again.source == .memory)
            #expect(household.painter.asked.count == count)
            await household.end()
        }
    }

    @Test(arguments: Way.kept, [Says.date, .tag])
    func `whoever asks again is given theirs once the server has confirmed it`(way: Way, says: Says) async throws {
        try await holding("again, \(way.testDescription): \(says.testDescription)") {
            let household = try Household(way, says: says)
            #expect(try await household.ask(.alice) == "alice")
            let again = try await household.askAgain(.alice)
            #expect(again.text == "alice" && again.source == .confirmedMemory)
            await household.end()
        }
    }

    // MARK: - A picture that breaks off

    /// Nobody is given the first half of one picture and the second half of another.
    @Test(arguments: Way.all, [Says.tag, .freshTag])
    func `whoever asks after another's picture broke off is given their own`(way: Way, says: Says) async throws {
        try await holding("rest, \(way.testDescription): \(says.testDescription)") {
            let household = try Household(way, says: says, hasCache: true) { $0.breaksOff = true }
            await #expect(throws: NetworkError.self) { try await household.ask(way.persons[0]) }
            let others = Array(way.persons.dropFirst())
            let given = try await household.ask(others)
            #expect(given == others.map(\.rawValue))
            await household.end()
        }
    }

    @Test(arguments: Way.kept, [Says.tag, .freshTag])
    func `whoever asks again after their picture broke off is sent its rest`(way: Way, says: Says) async throws {
        try await holding("rest again, \(way.testDescription): \(says.testDescription)") {
            let household = try Household(way, says: says, hasCache: true) { $0.breaksOff = true }
            await #expect(throws: NetworkError.self) { try await household.ask(.alice) }
            #expect(try await household.askAgain(.alice).text == "alice")
            #expect(household.painter.asked.contains { $0.fields["range"] == "bytes=\(Painter.half)-" })
            await household.end()
        }
    }

    // MARK: - A picture under way

    @Test(arguments: (Way.all + [Way.galleryCookie]).filter { !$0.hasOwnSessions })
    func `whoever asks while another's picture is on its way is given their own`(way: Way) async throws {
        try await holding("at once, \(way.testDescription)") {
            let gate = LoopbackServer.Gate()
            let household = try Household(way, says: .fresh) { $0.gate = gate }
            var receipts: [(Person, ImageDownloader.Receipt)] = []
            for person in [Person.alice, .bob] {
                try household.become(person)
                let downloader = try household.downloader(of: person)
                receipts.append((person, try await downloader.download(household.request(of: person))))
                if person == .alice { try await eventually("alice's is held") { household.painter.held == 1 } }
            }
            gate.open()
            for (person, receipt) in receipts {
                let text = Painter.text(of: try await receipt.image)
                #expect(text == person.rawValue)
            }
            if way.redirect == nil {
                let given = try await household.ask([.alice, .bob])
                #expect(given == ["alice", "bob"])
            }
            await household.end()
        }
    }

    /// The request for a place of a target is often the same as the one before.
    @Test(arguments: (Way.all + [Way.galleryCookie]).filter { !$0.hasOwnSessions })
    func `a place of a target shows what the last who asked is given`(way: Way) async throws {
        try await holding("place, \(way.testDescription)") {
            let gate = LoopbackServer.Gate()
            let household = try Household(way, says: .fresh) { $0.gate = gate }
            let wall = Wall()
            let binding = ImageBinding(wall, from: try household.downloader(of: .alice))
            for person in [Person.alice, .bob] {
                try household.become(person)
                try await binding.begin(household.request(of: person))
                if person == .alice { try await eventually("alice's is held") { household.painter.held == 1 } }
            }
            gate.open()
            try await eventually("something is shown") { !wall.shown.isEmpty }
            #expect(wall.shown == ["bob"])
            await household.end()
        }
    }
}
