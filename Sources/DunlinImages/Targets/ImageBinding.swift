internal import Dunlin
public import DunlinCodecs

/// An actor that makes a target show images from a source, one for each of the target's slots.
///
/// ```swift
/// let binding = ImageBinding(avatar, from: downloader)
/// try await binding.show("https://a.test/cat.jpg", placeholder: .image(silhouette))
/// ```
///
/// The newest request for a slot counts: a running one is cancelled, or joined if it is the same and still for the same
/// user (the source's `edition`). An image that comes too late is never shown.
///
/// The target is not retained. Best the target retains its binding, because releasing a binding cancels what it has
/// begun; a binding that outlives its target notices that when something comes for it.
public actor ImageBinding<Source: ImageSource> {
    /// A closure that shows an image instead of the binding.
    public typealias Delivery = @Sendable (_ image: ImageBuffer, _ target: any ImageTarget) -> Void

    private typealias Machine = ImageBindingMachine<Question, Waiter>

    /// What is asked for, and as whom.
    private struct Question: Equatable {
        let request: Source.Request
        let edition: ExactText
    }

    /// A caller who asked for an image.
    private struct Waiter: Sendable {
        var delivery: Delivery?
        /// The caller's answer; nil for one who does not wait.
        var answer: AsyncStream<Result<ImageBuffer, any Error>>.Continuation?
    }

    private let source: Source
    private weak var target: (any ImageTarget)?
    private var machine = Machine()
    /// The tasks of the loads; each ends with its load.
    private var tasks: [UInt64: Task<Void, Never>] = [:]

    public init(_ target: any ImageTarget, from source: Source) {
        self.target = target
        self.source = source
    }

    deinit {
        for task in tasks.values { task.cancel() }
    }

    /// Shows the image at a URL, and returns it when it is shown. With a `delivery`, that is called to show it.
    ///
    /// Cancelling the awaiting task cancels the load, unless somebody else asked for the same image. Throws
    /// `CancellationError` in that case, a `NetworkError` with code `cancelled` if another image was requested instead,
    /// one with code `invalidRequest` for nil and for text that is not a URL, and otherwise the source's error. What is
    /// shown then stays, usually the placeholder.
    @discardableResult
    public func show(
        _ url: String?, in slot: ImageSlot = .image, placeholder: ImagePlaceholder = .keepCurrent,
        delivery: Delivery? = nil
    ) async throws -> ImageBuffer {
        let request = try request(url, slot, placeholder)
        return try await show(request, in: slot, placeholder: placeholder, delivery: delivery)
    }

    /// Shows the image for a request of the source, in the same way.
    @discardableResult
    public func show(
        _ request: Source.Request, in slot: ImageSlot = .image, placeholder: ImagePlaceholder = .keepCurrent,
        delivery: Delivery? = nil
    ) async throws -> ImageBuffer {
        let (answers, answer) = AsyncStream<Result<ImageBuffer, any Error>>.makeStream()
        let viewer = Machine.Viewer(
            waiter: Waiter(delivery: delivery, answer: answer), showsItself: delivery != nil, mayLeave: true)
        let id = try ask(request, slot, placeholder, viewer)
        // Whoever joins a load has the time of its own.
        let timer = HTTPSession.PresentDeadline().map { deadline in
            Task.detached {
                guard let error = await deadline.passed() else { return }
                answer.yield(.failure(error))
                answer.finish()
            }
        }
        defer { timer?.cancel() }
        for await answer in answers {
            perform(machine.leave(id))
            return try answer.get()
        }
        // Only a cancelled task learns of the end before an answer.
        perform(machine.leave(id))
        throw CancellationError()
    }

    /// Begins to show an image without waiting; the target is told if it fails. Throws for nil and for text that is not
    /// a URL.
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
        let viewer = Machine.Viewer(
            waiter: Waiter(delivery: delivery), showsItself: delivery != nil, mayLeave: false)
        _ = try ask(request, slot, placeholder, viewer)
    }

    /// Cancels a slot's load, if there is one. What is shown stays.
    public func cancel(_ slot: ImageSlot = .image) {
        perform(machine.cancel(slot))
    }

    public func cancelAll() {
        perform(machine.cancelAll())
    }

    /// Returns the request that a slot waits for; nil for none.
    public func request(in slot: ImageSlot = .image) -> Source.Request? {
        machine.request(in: slot)?.request
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
        _ request: Source.Request, _ slot: ImageSlot, _ placeholder: ImagePlaceholder, _ viewer: Machine.Viewer
    ) throws -> UInt64 {
        guard target != nil else { throw Self.targetIsGone }
        let question = Question(request: request, edition: ExactText(source.edition(of: request)))
        let (id, actions) = machine.ask(question, in: slot, placeholder, viewer)
        perform(actions)
        return id
    }

    private func perform(_ actions: [Machine.Action]) {
        for action in actions {
            switch action {
            case .begin(let id, let question): begin(id, question.request)
            case .end(let id): tasks.removeValue(forKey: id)?.cancel()
            case .show(let image, let slot): target?.show(image, in: slot)
            case .answer(let waiter, let outcome, let slot): answer(waiter, outcome, slot)
            }
        }
    }

    private func begin(_ id: UInt64, _ request: Source.Request) {
        // The task ends with the load. It does not retain the binding, which cancels it when it is released; and it has
        // no time of its own, since others may join who have more.
        tasks[id] = Task.detached { [weak self, source, surroundings = Enclosure.surroundings] in
            await surroundings.within {
                let image = await source.imageInMemory(for: request)
                guard await self?.lookedUp(id, image) == true else { return }
                let result: Result<ImageBuffer, any Error>
                do { result = .success(try await source.image(for: request)) } catch { result = .failure(error) }
                await self?.loaded(id, result)
            }
        }
    }

    /// Notes the result of looking in memory. Returns whether the image must be loaded.
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

    /// Ends everything if the target is gone.
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
