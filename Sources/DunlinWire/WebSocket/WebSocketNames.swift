package import DunlinTypes

// The words of WebSocket that users know too, by their short names.
package typealias WebSocketCloseCode = HTTP.WebSocketCloseCode
package typealias WebSocketError = HTTP.WebSocketError
package typealias WebSocketHandshakeError = HTTP.WebSocketHandshakeError
package typealias WebSocketMessage = HTTP.WebSocketMessage
