import DunlinCodecs
import DunlinTesting
import LedgerRows
import Testing

@testable import DunlinImages

/// The rules of a binding as one would write them down first: a list of who asked, looked through anew each time.
private struct NaiveBinding {
    struct Asker {
        let number: Int
        let slot: ImageSlot
        let request: String
        /// Those with the same number share a load.
        let load: Int
        let showsItself: Bool
        let stays: Bool
    }

    var askers: [Asker] = []
    var shown: [ImageSlot: UInt8] = [:]
    var answers: [Int: String] = [:]
    var placeholders: [Int: UInt8?] = [:]
    var looked: Set<Int> = []
    var loads = 0

    mutating func ask(
        _ number: Int, _ request: String, _ slot: ImageSlot, _ placeholder: ImagePlaceholder, _ showsItself: Bool,
        _ stays: Bool
    ) {
        let running = askers.first { $0.slot == slot }
        if running?.request != request {
            end(running?.load, "replaced")
            loads += 1
        }
        let load = running?.request == request ? running?.load ?? 0 : loads
        askers.append(
            Asker(number: number, slot: slot, request: request, load: load, showsItself: showsItself, stays: stays))
        if let shown = Self.value(placeholder) {
            if looked.contains(load) { self.shown[slot] = shown } else { placeholders[load] = .some(shown) }
        }
    }

    mutating func end(_ load: Int?, _ answer: String) {
        for asker in askers where asker.load == load { answers[asker.number] = answer }
        askers.removeAll { $0.load == load }
    }

    mutating func lookedUp(_ load: Int, _ image: UInt8?) {
        guard let slot = askers.first(where: { $0.load == load })?.slot, !looked.contains(load) else { return }
        looked.insert(load)
        if image != nil { loaded(load, image) } else if let shown = placeholders[load] { self.shown[slot] = shown }
    }

    mutating func loaded(_ load: Int, _ image: UInt8?) {
        guard let slot = askers.first(where: { $0.load == load })?.slot else { return }
        if let image, askers.contains(where: { $0.load == load && !$0.showsItself }) { shown[slot] = image }
        end(load, image.map { "\($0)" } ?? "failed")
    }

    mutating func leave(_ number: Int) {
        askers.removeAll { $0.number == number && !$0.stays }
    }

    mutating func cancel(_ slot: ImageSlot) { end(askers.first { $0.slot == slot }?.load, "cancelled") }

    /// 0 is nothing; nil changes nothing.
    private static func value(_ placeholder: ImagePlaceholder) -> UInt8? {
        switch placeholder {
        case .keepCurrent: nil
        case .clear: 0
        case .image(let image): image[0, 0].red
        }
    }
}

@Suite struct ImageBindingModelTests {
    private typealias Machine = ImageBindingMachine<String, Int>

    /// What the actions of a machine come to.
    private struct Effects {
        var shown: [ImageSlot: UInt8] = [:]
        var answers: [Int: String] = [:]
        var answered: [Int: Int] = [:]
        var loads: [UInt64] = []
        var running: Set<UInt64> = []

        mutating func take(_ actions: [Machine.Action]) {
            for action in actions {
                switch action {
                case .begin(let id, _):
                    loads.append(id)
                    running.insert(id)
                case .end(let id): running.remove(id)
                case .show(let image, let slot): shown[slot] = image.map { $0[0, 0].red } ?? 0
                case .answer(let waiter, let outcome, _):
                    answered[waiter, default: 0] += 1
                    answers[waiter] =
                        switch outcome {
                        case .image(let image): Picture.name(image)
                        case .failed: "failed"
                        case .replaced: "replaced"
                        case .cancelled: "cancelled"
                        }
                }
            }
        }
    }

    private static let slots = [ImageSlot.image, .background, ImageSlot(.image, for: .disabled)]
    private static let placeholders: [ImagePlaceholder] = [
        .keepCurrent, .clear, .image(Picture.of(201)), .image(Picture.of(202)),
    ]

    @Test(.rows("UI-5", "UI-9", "UI-15"), arguments: 0..<40)
    func `whatever happens, a target shows what the plain list of rules says`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (machine, naive, effects) = (Machine(), NaiveBinding(), Effects())
        var askers: [UInt64] = []
        for _ in 0..<500 {
            let slot = Self.slots[random.next(below: 3)]
            let load = effects.loads.isEmpty ? nil : max(0, effects.loads.count - 1 - random.next(below: 4))
            switch (random.next(below: 7), load) {
            case (0, _), (1, _), (_, nil):
                let (request, placeholder) = (
                    ["a", "b", "c"][random.next(below: 3)], Self.placeholders[random.next(below: 4)]
                )
                let (showsItself, stays) = (random.next(below: 3) == 0, random.next(below: 3) == 0)
                let (id, actions) = machine.ask(
                    request, in: slot, placeholder,
                    .init(waiter: askers.count, showsItself: showsItself, mayLeave: !stays))
                effects.take(actions)
                naive.ask(askers.count, request, slot, placeholder, showsItself, stays)
                askers.append(id)
            case (2, let load?):
                let image = random.next(below: 3) == 0 ? UInt8(1 + random.next(below: 100)) : nil
                effects.take(machine.lookedUp(effects.loads[load], image.map(Picture.of)))
                naive.lookedUp(load + 1, image)
            case (3, let load?):
                let image = UInt8(1 + random.next(below: 100))
                effects.take(machine.loaded(effects.loads[load], .success(Picture.of(image))))
                naive.loaded(load + 1, image)
            case (4, let load?):
                effects.take(machine.loaded(effects.loads[load], .failure(Fault())))
                naive.loaded(load + 1, nil)
            case (5, _):
                let asker = max(0, askers.count - 1 - random.next(below: 4))
                effects.take(machine.leave(askers[asker]))
                naive.leave(asker)
            default:
                effects.take(machine.cancel(slot))
                naive.cancel(slot)
            }
            try #require(effects.shown == naive.shown)
            try #require(effects.answers == naive.answers)
            try #require(effects.answered.values.allSatisfy { $0 == 1 })
            for slot in Self.slots {
                try #require(machine.request(in: slot) == naive.askers.first { $0.slot == slot }?.request)
            }
        }
        effects.take(machine.cancelAll())
        #expect(Self.slots.allSatisfy { machine.request(in: $0) == nil })
    }
}
