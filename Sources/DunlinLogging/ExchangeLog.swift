#if Logging
    internal import Dunlin

    /// Tells of the proxy that an exchange went through.
    struct ExchangeLog: HTTPSession.ExchangeObserver {
        let request: RequestLog

        func ended(_ end: HTTPSession.ExchangeEnd) {
            guard let proxy = end.hop?.proxy else { return }
            request.write(StepLine(proxy: proxy, end))
        }
    }
#endif
