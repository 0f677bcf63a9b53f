internal import Dunlin
public import DunlinCodecs

/// Has a target show images that come from elsewhere, one for each of its slots.
///
/// ```swift
/// let binding = ImageBinding(avatar, from: downloader)
/// try await binding.show("https://a.test/cat.jpg", placeholder: .image(silhouette))
/// ```
///
/// The newest request for a slot counts: whatever was on its way there is cancelled, unless it is the same, which is
/// joined then. An image that comes late is never shown.
///
/// The target is not kept. It is best the target that keeps its binding, for a binding that goes cancels what it has
/// begun; one that outlives its target notices that when something comes for it.
public actor ImageBinding<Source: ImageSource> {
    /// Shows an image instead of the binding.
    public typealias Delivery = @Sendable (_ image: ImageBuffer, _ target: any ImageTarget) -> Void

    private typealias Machine = ImageBindingMachine<Source.Request, Waiter>

    /// Who asked.
    private struct Waiter: Sendable {
        var delivery: Delivery?
        /// Nil for one who does not wait.
        var answer: AsyncStream<Result<ImageBuffer, any Error>>.Continuation?
    }

    private let source: Source
    private weak var target: (any ImageTarget)?
    private var machine = Machine()
    /// One for each load, which ends with it.
    private var tasks: [UInt64: Task<Void, Never>] = [:]

    public init(_ target: any ImageTarget, from source: Source) {
        self.target = target
        self.source = source
    }

    deinit {
        for task in tasks.values { task.cancel() }
    }

    /// Shows the image at a URL, and returns it once it is shown. With a `delivery` that is called, and shows it.
    ///
    /// Cancelling the task that waits here cancels the load, unless somebody else asked for the same. Throws
    /// `CancellationError` then, `NetworkError` code `cancelled` when another image was asked for in its place, code
    /// `invalidRequest` for nil and for what is no URL, and otherwise what the source throws. What is shown stays then:
    /// the placeholder, as a rule.
    @discardableResult
    public func show(
        _ url: String?, in slot: ImageSlot = .image, placeholder: ImagePlaceholder = .keepCurrent,
        delivery: Delivery? = nil
    ) async throws -> ImageBuffer {
        let request = try request(url, slot, placeholder)
        return try await show(request, in: slot, placeholder: placeholder, delivery: delivery)
    }

    /// The same for a request of the source.
    @discardableResult
    public func show(
        _ request: Source.Request, in slot: ImageSlot = .image, placeholder: ImagePlaceholder = .keepCurrent,
        delivery: Delivery? = nil
    ) async throws -> ImageBuffer {
        let (answers, answer) = AsyncStream<Result<ImageBuffer, any Error>>.makeStream()
        let asker = Machine.Asker(
            waiter: Waiter(delivery: delivery, answer: answer), showsItself: delivery != nil, mayLeave: true)
        let id = try ask(request, slot, placeholder, asker)
        for await answer in answers { return try answer.get() }
        // Only a cancelled task is told of the end before an answer.
        perform(machine.leave(id))
        throw CancellationError()
    }

    /// The same without waiting: it goes on by itself, and the target is told if it fails. Throws for nil and for what
    /// is no URL.
    public func begin(
        _ url: String?, in slot: ImageSlot = .image, placeholder: ImagePlaceholder = .keepCurrent,
        delivery: Delivery? = nil
    ) throws {
        try begin(try request(url, slot, placeholder), in: slot, placeholder: placeholder, delivery: delivery)
    }

    public func begin(
        _ request: Source.Request, in slot: ImageSlot = .image, placeholder: ImagePlaceholder = .keepCurrent,
        delivery: Delivery? = nil
    ) throws {
        let asker = Machine.Asker(
            waiter: Waiter(delivery: delivery), showsItself: delivery != nil, mayLeave: false)
        _ = try ask(request, slot, placeholder, asker)
    }

    /// Cancels what is on its way to a slot, if there is anything. What is shown stays.
    public func cancel(_ slot: ImageSlot = .image) {
        perform(machine.cancel(slot))
    }

    public func cancelAll() {
        perform(machine.cancelAll())
    }

    /// What is on its way to a slot.
    public func request(in slot: ImageSlot = .image) -> Source.Request? {
        machine.request(in: slot)
    }
}

// MARK: - The driver

extension ImageBinding {
    private func request(_ url: String?, _ slot: ImageSlot, _ placeholder: ImagePlaceholder) throws -> Source.Request {
        do {
            guard let url else { throw NetworkError(.invalidRequest, "there is no URL to get an image from") }
            return try source.request(forImageAt: url)
        } catch {
            perform(machine.refuse(in: slot, placeholder))
            throw error
        }
    }

    private func ask(
        _ request: Source.Request, _ slot: ImageSlot, _ placeholder: ImagePlaceholder, _ asker: Machine.Asker
    ) throws -> UInt64 {
        guard target != nil else { throw Self.targetIsGone }
        let (id, actions) = machine.ask(request, in: slot, placeholder, asker)
        perform(actions)
        return id
    }

    private func perform(_ actions: [Machine.Action]) {
        for action in actions {
            switch action {
            case .begin(let id, let request): begin(id, request)
            case .end(let id): tasks.removeValue(forKey: id)?.cancel()
            case .show(let image, let slot): target?.show(image, in: slot)
            case .answer(let waiter, let outcome, let slot): answer(waiter, outcome, slot)
            }
        }
    }

    private func begin(_ id: UInt64, _ request: Source.Request) {
        // Ends with the load. It does not keep the binding, which cancels it when it goes.
        tasks[id] = Task { [weak self, source] in
            let image = await source.imageInMemory(for: request)
            guard await self?.lookedUp(id, image) == true else { return }
            let result: Result<ImageBuffer, any Error>
            do { result = .success(try await source.image(for: request)) } catch { result = .failure(error) }
            await self?.loaded(id, result)
        }
    }

    /// Whether it is to be loaded.
    private func lookedUp(_ id: UInt64, _ image: ImageBuffer?) -> Bool {
        if endsWithTarget() { return false }
        perform(machine.lookedUp(id, image))
        if machine.isCurrent(id) { return true }
        tasks[id] = nil
        return false
    }

    private func loaded(_ id: UInt64, _ result: Result<ImageBuffer, any Error>) {
        tasks[id] = nil
        if !endsWithTarget() { perform(machine.loaded(id, result)) }
    }

    /// Leaves everything if the target has gone.
    private func endsWithTarget() -> Bool {
        if target != nil { return false }
        perform(machine.cancelAll())
        return true
    }

    private func answer(_ waiter: Waiter, _ outcome: Machine.Outcome, _ slot: ImageSlot) {
        let result = result(of: outcome)
        switch result {
        case .success(let image):
            if let target { waiter.delivery?(image, target) }
        case .failure(let error):
            // Whoever replaced or cancelled an image knows that it does not come.
            if case .failed = outcome, waiter.answer == nil { target?.imageFailed(error, in: slot) }
        }
        waiter.answer?.yield(result)
        waiter.answer?.finish()
    }

    private func result(of outcome: Machine.Outcome) -> Result<ImageBuffer, any Error> {
        switch outcome {
        case .image(let image): .success(image)
        case .failed(let error): .failure(error)
        case _ where target == nil: .failure(Self.targetIsGone)
        case .replaced: .failure(NetworkError(.cancelled, "another image was requested for the same target"))
        case .cancelled: .failure(NetworkError(.cancelled, "the image was cancelled"))
        }
    }

    private static var targetIsGone: NetworkError {
        NetworkError(.cancelled, "the image's target no longer exists")
    }
}
