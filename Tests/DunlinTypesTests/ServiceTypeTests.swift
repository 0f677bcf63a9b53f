import DunlinTypes
import LedgerRows
import Testing

@Suite struct `A type of service` {
    @Test(
        .rows("RQ-55", "AP-4"),
        arguments: [
            (HTTP.SocketOptions.ServiceType.normal, nil, nil), (.voip, 46, 6), (.voice, 46, 6), (.video, 34, 5),
            (.responsive, 18, 4), (.background, 8, 1),
        ] as [(HTTP.SocketOptions.ServiceType, UInt8?, UInt8?)])
    func `a type of service stands for a code point and a priority that need no privilege`(
        service: HTTP.SocketOptions.ServiceType, code: UInt8?, priority: UInt8?
    ) {
        var options = HTTP.SocketOptions()
        (options.differentiatedServices, options.priority) = (1, 2)
        options.serve(service)
        #expect(options.differentiatedServices == code)
        #expect(options.priority == priority)
        #expect(options.problem == nil)
    }
}
