internal import DunlinCache
internal import DunlinSemantics
internal import DunlinTransport

/// Answers requests from the session's cache, and stores what the network answers, by the rules of `CacheMachine`.
///
/// Its place is where each hop is seen separately and nothing has been added yet that changes from one sending to the
/// next, so what authentication adds selects no variant.
struct CacheStage: Stage {
    let cache: HTTPSession.Cache
    let mode: HTTPSession.CacheMode

    func seesAll(of call: LiveCall) -> Bool { true }

    func driver(for call: LiveCall) -> (any StageDriver)? {
        let options = call.delegate.settings?.options
        return CacheDriver(
            cache, options?.common.cacheMode(insteadOf: mode) ?? mode, oldest: options?.oldestStored)
    }
}
