import DunlinCodecs
import LedgerRows
import Testing

@testable import DunlinImages

@Suite struct ImageBindingMachineTests {
    /// What happens to a binding, and what it says is to be done, which `Script` writes as text.
    enum Event {
        case ask(String, ImageSlot = .image, ImagePlaceholder = .keepCurrent, itself: Bool = false, stays: Bool = false)
        case refuse(ImagePlaceholder, ImageSlot = .image)
        /// Of the load that began so manieth.
        case memory(Int, UInt8?)
        case loaded(Int, UInt8)
        case failed(Int)
        /// Of the asker who came so manieth.
        case leave(Int)
        case cancel(ImageSlot = .image)
        case cancelAll
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [(Event, [String])]
    }

    /// A machine with waiters that are numbers, in the order in which they came.
    struct Script {
        var machine = ImageBindingMachine<String, Int>()
        var loads: [UInt64] = []
        var askers: [UInt64] = []

        mutating func play(_ event: Event) -> [String] {
            act(event).map { action in
                switch action {
                case .begin(let id, let request):
                    loads.append(id)
                    return "begin \(request)"
                case .end(let id): return "end \(loads.firstIndex(of: id).map { "\($0 + 1)" } ?? "?")"
                case .show(let image, let slot): return "show \(Picture.name(image))\(Self.name(slot))"
                case .answer(let waiter, let outcome, _): return "\(waiter): \(Self.name(outcome))"
                }
            }
        }

        private mutating func act(_ event: Event) -> [ImageBindingMachine<String, Int>.Action] {
            switch event {
            case .ask(let request, let slot, let placeholder, let showsItself, let stays):
                let (id, actions) = machine.ask(
                    request, in: slot, placeholder,
                    .init(waiter: askers.count + 1, showsItself: showsItself, mayLeave: !stays))
                askers.append(id)
                return actions
            case .refuse(let placeholder, let slot): return machine.refuse(in: slot, placeholder)
            case .memory(let load, let image): return machine.lookedUp(loads[load - 1], image.map(Picture.of))
            case .loaded(let load, let image): return machine.loaded(loads[load - 1], .success(Picture.of(image)))
            case .failed(let load): return machine.loaded(loads[load - 1], .failure(Fault()))
            case .leave(let asker): return machine.leave(askers[asker - 1])
            case .cancel(let slot): return machine.cancel(slot)
            case .cancelAll: return machine.cancelAll()
            }
        }

        private static func name(_ slot: ImageSlot) -> String {
            slot == .image ? "" : " in \(slot.role)\(slot.state.rawValue)"
        }

        private static func name(_ outcome: ImageBindingMachine<String, Int>.Outcome) -> String {
            switch outcome {
            case .image(let image): Picture.name(image)
            case .failed: "failed"
            case .replaced: "replaced"
            case .cancelled: "cancelled"
            }
        }
    }

    private static let placeholder = ImagePlaceholder.image(Picture.of(9))
    private static let pressed = ImageSlot(.image, for: .highlighted)

    static let rows = [
        Row(
            testDescription: "a URL that is none shows the placeholder and ends what was loading",
            steps: [
                (.refuse(placeholder), ["show 9"]), (.refuse(.clear), ["show nothing"]), (.refuse(.keepCurrent), []),
                (.ask("a"), ["begin a"]), (.refuse(.clear), ["end 1", "1: replaced", "show nothing"]),
            ]),
        Row(
            testDescription: "the same request joins the one that is running",
            steps: [
                (.ask("a"), ["begin a"]), (.memory(1, nil), []), (.ask("a"), []),
                (.loaded(1, 5), ["show 5", "1: 5", "2: 5"]), (.ask("a"), ["begin a"]),
            ]),
        Row(
            testDescription: "who joins brings his placeholder, and the same is not shown twice",
            steps: [
                (.ask("a", .image, placeholder), ["begin a"]), (.memory(1, nil), ["show 9"]),
                (.ask("a", .image, placeholder), []), (.ask("a", .image, .clear), ["show nothing"]),
                (.ask("a"), []), (.ask("a", .image, placeholder), ["show 9"]),
            ]),
        Row(
            testDescription:
                "the newest placeholder is shown once memory has nothing, and one that keeps takes none back",
            steps: [
                (.ask("a", .image, .clear), ["begin a"]), (.ask("a", .image, placeholder), []), (.ask("a"), []),
                (.memory(1, nil), ["show 9"]),
            ]),
        Row(
            testDescription: "another request ends the one before it",
            steps: [
                (.ask("a"), ["begin a"]), (.ask("b"), ["end 1", "1: replaced", "begin b"]), (.memory(1, 5), []),
                (.memory(2, nil), []), (.loaded(1, 5), []), (.failed(1), []), (.loaded(2, 6), ["show 6", "2: 6"]),
                (.loaded(2, 6), []),
            ]),
        Row(
            testDescription: "what memory has is shown without the placeholder",
            steps: [
                (.ask("a", .image, placeholder), ["begin a"]), (.memory(1, 5), ["show 5", "1: 5"]),
                (.memory(1, 5), []), (.loaded(1, 6), []),
            ]),
        Row(
            testDescription: "memory answers once",
            steps: [
                (.ask("a", .image, .clear), ["begin a"]), (.memory(1, nil), ["show nothing"]), (.memory(1, 5), []),
            ]),
        Row(
            testDescription: "who shows the image himself is given it, and nothing is shown",
            steps: [
                (.ask("a", itself: true), ["begin a"]), (.memory(1, nil), []), (.loaded(1, 5), ["1: 5"]),
                (.ask("b", itself: true), ["begin b"]), (.ask("b"), []), (.ask("b"), []),
                (.memory(2, nil), []), (.loaded(2, 6), ["show 6", "2: 6", "3: 6", "4: 6"]),
            ]),
        Row(
            testDescription: "a failure keeps the placeholder",
            steps: [
                (.ask("a", .image, placeholder), ["begin a"]), (.memory(1, nil), ["show 9"]),
                (.failed(1), ["1: failed"]), (.ask("a"), ["begin a"]),
            ]),
        Row(
            testDescription: "cancel ends what is running, and does nothing otherwise",
            steps: [
                (.cancel(), []), (.ask("a"), ["begin a"]), (.cancel(), ["end 1", "1: cancelled"]), (.cancel(), []),
                (.memory(1, 5), []), (.ask("a"), ["begin a"]), (.memory(2, nil), []),
                (.cancel(), ["end 2", "2: cancelled"]), (.loaded(2, 5), []),
            ]),
        Row(
            testDescription: "the load ends with the last who leaves, unless somebody stays",
            steps: [
                (.ask("a"), ["begin a"]), (.ask("a"), []), (.leave(1), []), (.leave(1), []),
                (.leave(2), ["end 1"]), (.loaded(1, 5), []),
                (.ask("b", stays: true), ["begin b"]), (.ask("b"), []), (.leave(4), []), (.leave(3), []),
                (.memory(2, 6), ["show 6", "3: 6"]), (.leave(3), []),
            ]),
        Row(
            testDescription: "slots know nothing of each other",
            steps: [
                (.ask("a"), ["begin a"]), (.ask("a", .background), ["begin a"]), (.ask("b", pressed), ["begin b"]),
                (.memory(1, nil), []), (.memory(2, nil), []), (.memory(3, nil), []),
                (.cancel(pressed), ["end 3", "3: cancelled"]), (.loaded(2, 5), ["show 5 in background0", "2: 5"]),
                (.refuse(.clear, .background), ["show nothing in background0"]), (.loaded(1, 6), ["show 6", "1: 6"]),
                (.ask("c", .background), ["begin c"]), (.ask("d", pressed), ["begin d"]),
                (.cancelAll, ["end 4", "4: cancelled", "end 5", "5: cancelled"]), (.cancelAll, []),
            ]),
    ]

    @Test(
        .rows("UI-3", "UI-4", "UI-5", "UI-6", "UI-7", "UI-8", "UI-9", "UI-11", "UI-12", "UI-15", "UI-16", "UI-17"),
        arguments: rows)
    func `a target waits for the newest image of each slot and shows it once`(row: Row) {
        var script = Script()
        for (event, expected) in row.steps {
            #expect(script.play(event) == expected, "\(event)")
        }
    }

    @Test(.rows("UI-15"))
    func `each role and each combination of states is a slot of its own`() {
        let states: [ImageSlot.State] = [.normal, .highlighted, .selected, .disabled, [.highlighted, .selected]]
        let slots = states.flatMap { [ImageSlot(.image, for: $0), ImageSlot(.background, for: $0)] }
        var script = Script()
        for slot in slots { #expect(script.play(.ask("a", slot)) == ["begin a"]) }
        for load in 1...slots.count { #expect(script.play(.memory(load, 5)).count == 2) }
    }
}

struct Fault: Error {}

/// One pixel, known by its red.
enum Picture {
    static func of(_ red: UInt8) -> ImageBuffer {
        guard let picture = ImageBuffer(width: 1, height: 1, pixels: [red, 0, 0, 255]) else {
            preconditionFailure("one pixel is a picture")
        }
        return picture
    }

    static func name(_ image: ImageBuffer?) -> String { image.map { "\($0[0, 0].red)" } ?? "nothing" }
}
