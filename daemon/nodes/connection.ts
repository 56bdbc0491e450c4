/**
 * Connections between the nodes of an agent: TLS 1.2 with a pre-shared key (RFC 4279), which both sides prove to have. The key is derived from
 * the agent key, so that nodes need no certificates, and no key of a tenant gives access.
 */
import { Agent, type AgentOptions, type ServerOptions } from 'node:https'

/** OpenSSL selects no cipher with a pre-shared key by itself. This one has forward secrecy (RFC 7905). */
const tls = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const

/** Connections of this node to another one. */
const connectionLimit = 256

/** `findKey` returns undefined until the key is known. No connection is accepted before. */
export function peerServerOptions(findKey: () => Uint8Array | undefined): ServerOptions {
  return { ...tls, pskCallback: () => findKey() ?? null }
}

/** The connections of this node to others, which stay open between requests. */
export function createPeerAgent(key: Uint8Array): Agent {
  const options: AgentOptions = {
    ...tls,
    keepAlive: true,
    maxSockets: connectionLimit,
    pskCallback: () => ({ psk: key, identity: 'node' }),
    // There is no certificate: the key proves the other side.
    checkServerIdentity: () => undefined,
  }
  return new Agent(options)
}
