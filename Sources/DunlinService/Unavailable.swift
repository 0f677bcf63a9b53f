#if !ServiceLifecycle
    public import Dunlin

    extension HTTPSession {
        @available(
            *, unavailable,
            message: """
                enable the trait ServiceLifecycle of the package dunlin: \
                .package(url: …, traits: ["ServiceLifecycle"])
                """
        )
        public func run() async throws {}

        @available(
            *, unavailable,
            message: """
                enable the trait ServiceLifecycle of the package dunlin: \
                .package(url: …, traits: ["ServiceLifecycle"])
                """
        )
        public func service(grace: Duration) -> HTTPSession { self }
    }
#endif
