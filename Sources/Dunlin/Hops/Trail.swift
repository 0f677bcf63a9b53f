/// What came before the response that is delivered: attempts that others followed, and the redirects among them.
///
/// An object made anew with each step. A request that took one hop, to a URL without a fragment, has none, and that is
/// most of them.
@usableFromInline final class Trail: Sendable {
    let attempts: [Attempt]
    let redirects: [Redirect]
    /// Of the URL that was asked last.
    let fragment: String?
    let machine: RedirectMachine
    /// What a response that nobody fetched is said to be from.
    let madeURL: String?
    /// Where the body lies, of a response that became a download.
    let file: HTTPSession.DownloadedFile?
    /// The tries of the request that came to nothing.
    let tries: Tries?

    init(
        _ attempts: [Attempt], _ redirects: [Redirect] = [], fragment: String? = nil,
        _ machine: RedirectMachine = RedirectMachine(), madeURL: String? = nil,
        file: HTTPSession.DownloadedFile? = nil, tries: Tries? = nil
    ) {
        self.file = file
        self.tries = tries
        self.attempts = attempts
        self.redirects = redirects
        self.fragment = fragment
        self.machine = machine
        self.madeURL = madeURL
    }
}

extension Trail {
    /// The same of a request that waited in a queue before it was sent.
    func after(waiting time: Int64) -> Trail {
        var attempts = attempts
        if !attempts.isEmpty { attempts[0] = attempts[0].after(waiting: time) }
        return Trail(attempts, redirects, fragment: fragment, machine, file: file, tries: tries)
    }
}

extension Trail? {
    /// The same after exchanges of the same request that came to nothing, or to a part.
    func after(_ earlier: [Attempt]) -> Trail? {
        if earlier.isEmpty { return self }
        return Trail(
            earlier + (self?.attempts ?? []), self?.redirects ?? [], fragment: self?.fragment,
            self?.machine ?? .init(), madeURL: self?.madeURL, file: self?.file, tries: self?.tries)
    }

    /// The same after tries of the same request.
    func after(_ tries: Tries, _ earlier: [Attempt]) -> Trail {
        Trail(
            earlier + (self?.attempts ?? []), self?.redirects ?? [], fragment: self?.fragment,
            self?.machine ?? .init(), madeURL: self?.madeURL, file: self?.file, tries: tries)
    }

    func keeping(_ file: HTTPSession.DownloadedFile) -> Trail {
        Trail(
            self?.attempts ?? [], self?.redirects ?? [], fragment: self?.fragment, self?.machine ?? .init(),
            madeURL: self?.madeURL, file: file, tries: self?.tries)
    }

    /// Adds an attempt that another one follows. `fragment` is that of the request's URL.
    @inline(never)
    mutating func append(_ attempt: Attempt) {
        self = Trail(
            (self?.attempts ?? []) + [attempt], self?.redirects ?? [], fragment: self?.fragment,
            self?.machine ?? .init(), tries: self?.tries)
    }

    /// An error at the end of redirects is one of the request as a whole: what they were the answers to was sent, and
    /// would be sent again.
    @inline(never)
    func explained(_ error: any Error) -> any Error {
        guard let redirects = self?.redirects, !redirects.isEmpty, var failure = error as? NetworkError else {
            return error
        }
        failure.requestMayHaveBeenSent = true
        failure.isSafeToRetry = failure.isSafeToRetry && redirects.allSatisfy(\.method.isIdempotent)
        return failure
    }
}
