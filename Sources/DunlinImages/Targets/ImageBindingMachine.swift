internal import DunlinCodecs

/// Which image each slot of a target waits for, and who wants to know.
///
/// Rules: of two requests for a slot the newer wins, and the older is ended; one that is equal to what is loading joins
/// it. Memory is asked first: what it has is shown at once, and the placeholder is not. Each load has a number, and
/// what comes of one that is not the slot's own any more is nobody's business. An image is shown once however many
/// asked for it, and not at all if each of them shows it by himself. A failure shows nothing. Slots know nothing of
/// each other.
struct ImageBindingMachine<Request: Equatable, Waiter> {
    typealias LoadID = UInt64
    typealias AskerID = UInt64

    enum Outcome {
        case image(ImageBuffer)
        case failed(any Error)
        /// Another request came in its place.
        case replaced
        case cancelled
    }

    enum Action {
        /// Look in memory, and say what is there.
        case begin(LoadID, Request)
        /// Nobody wants what comes of it.
        case end(LoadID)
        case show(ImageBuffer?, ImageSlot)
        case answer(Waiter, Outcome, ImageSlot)
    }

    /// Who asks for an image.
    struct Asker {
        let waiter: Waiter
        /// Whether the image is his to show.
        var showsItself = false
        /// Whether he may go before the image has come.
        var mayLeave = true
    }

    private struct Load {
        let id: LoadID
        let request: Request
        var isInMemory: Bool?
        /// The newest that was asked for; nil once it is shown.
        var placeholder: ImagePlaceholder?
        /// The one that is shown.
        var shownPlaceholder = ImagePlaceholder.keepCurrent
        /// In the order of their arrival.
        var askers: [(id: AskerID, asker: Asker)]
    }

    private var loads: [ImageSlot: Load] = [:]
    private var lastID: UInt64 = 0

    /// What a slot waits for.
    func request(in slot: ImageSlot) -> Request? { loads[slot]?.request }

    /// Whether a slot waits for this very load.
    func isCurrent(_ id: LoadID) -> Bool { slot(of: id) != nil }

    /// Somebody wants an image; his number is that by which he may leave.
    mutating func ask(
        _ request: Request, in slot: ImageSlot, _ placeholder: ImagePlaceholder, _ asker: Asker
    ) -> (asker: AskerID, actions: [Action]) {
        let id = nextID()
        if loads[slot]?.request == request {
            loads[slot]?.askers.append((id, asker))
            return (id, show(placeholder, in: slot))
        }
        let ended = drop(slot, .replaced)
        let load = Load(id: nextID(), request: request, placeholder: placeholder, askers: [(id, asker)])
        loads[slot] = load
        return (id, ended + [.begin(load.id, request)])
    }

    /// Somebody wants an image for which there can be no request: what was there before is ended all the same.
    mutating func refuse(in slot: ImageSlot, _ placeholder: ImagePlaceholder) -> [Action] {
        drop(slot, .replaced) + Self.showing(placeholder, in: slot)
    }

    /// What memory had. If nothing, and the load is still current, it is to be loaded.
    mutating func lookedUp(_ id: LoadID, _ image: ImageBuffer?) -> [Action] {
        guard let slot = slot(of: id), let load = loads[slot], load.isInMemory == nil else { return [] }
        if let image { return finish(slot, .image(image)) }
        loads[slot]?.isInMemory = false
        return show(load.placeholder ?? .keepCurrent, in: slot)
    }

    mutating func loaded(_ id: LoadID, _ result: Result<ImageBuffer, any Error>) -> [Action] {
        guard let slot = slot(of: id) else { return [] }
        return switch result {
        case .success(let image): finish(slot, .image(image))
        case .failure(let error): finish(slot, .failed(error))
        }
    }

    /// Somebody wants an image no longer. The load is ended if he was the last.
    mutating func leave(_ id: AskerID) -> [Action] {
        guard let slot = loads.first(where: { $0.value.askers.contains { $0.id == id && $0.asker.mayLeave } })?.key
        else { return [] }
        loads[slot]?.askers.removeAll { $0.id == id }
        return loads[slot]?.askers.isEmpty == true ? drop(slot, .cancelled) : []
    }

    /// Nothing where the slot waits for nothing.
    mutating func cancel(_ slot: ImageSlot) -> [Action] { drop(slot, .cancelled) }

    mutating func cancelAll() -> [Action] {
        loads.values.sorted { $0.id < $1.id }.flatMap { drop(slot(of: $0.id) ?? .image, .cancelled) }
    }

    // MARK: -

    private mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    private func slot(of id: LoadID) -> ImageSlot? { loads.first { $0.value.id == id }?.key }

    private mutating func drop(_ slot: ImageSlot, _ outcome: Outcome) -> [Action] {
        guard let load = loads.removeValue(forKey: slot) else { return [] }
        return [.end(load.id)] + load.askers.map { .answer($0.asker.waiter, outcome, slot) }
    }

    private mutating func finish(_ slot: ImageSlot, _ outcome: Outcome) -> [Action] {
        guard let load = loads.removeValue(forKey: slot) else { return [] }
        var actions: [Action] = []
        if case .image(let image) = outcome, load.askers.contains(where: { !$0.asker.showsItself }) {
            actions.append(.show(image, slot))
        }
        return actions + load.askers.map { .answer($0.asker.waiter, outcome, slot) }
    }

    /// Now, or once memory has answered. One that keeps what is there takes nothing back.
    private mutating func show(_ placeholder: ImagePlaceholder, in slot: ImageSlot) -> [Action] {
        guard let load = loads[slot], placeholder != .keepCurrent else { return [] }
        if load.isInMemory == nil {
            loads[slot]?.placeholder = placeholder
            return []
        }
        guard load.shownPlaceholder != placeholder else { return [] }
        loads[slot]?.shownPlaceholder = placeholder
        return Self.showing(placeholder, in: slot)
    }

    private static func showing(_ placeholder: ImagePlaceholder, in slot: ImageSlot) -> [Action] {
        switch placeholder {
        case .keepCurrent: []
        case .clear: [.show(nil, slot)]
        case .image(let image): [.show(image, slot)]
        }
    }
}
