/**
 * Connections between the nodes of an agent: TLS 1.2 with a pre-shared key (RFC 4279), which both sides prove
 * to have. The key is derived from the agent key, so that nodes need no certificates, and no key of a tenant
 * gives access.
 */
import { Agent, type AgentOptions, type ServerOptions } from 'node:https'

/** OpenSSL selects no cipher with a pre-shared key by itself. This one has forward secrecy (RFC 7905). */
const tls = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const

/**
 * After this time, a connection without a request is closed: by the node that sends requests, so that none
 * arrives while it is closed.
 */
const idleMs = 60_000

/** `findKey` returns undefined until the key is known. No connection is accepted before. */
export function peerServerOptions(findKey: () => Uint8Array | undefined): ServerOptions {
  return { ...tls, keepAliveTimeout: 0, pskCallback: () => findKey() ?? null }
}

/**
 * The connections of this node to others, which stay open between requests. Their number has no limit but
 * that of the clients' connections: event streams and slow clients hold theirs, and must not keep other
 * requests waiting.
 */
export function createPeerAgent(key: Uint8Array): Agent {
  const options: AgentOptions = {
    ...tls,
    keepAlive: true,
    timeout: idleMs,
    pskCallback: () => ({ psk: key, identity: 'node' }),
    // There is no certificate: the key proves the other side.
    checkServerIdentity: () => undefined,
  }
  return new Agent(options)
}

/** The host and the port of `host:port`. */
export function splitAddress(address: string): [host: string, port: number] {
  const colon = address.lastIndexOf(':')
  return [address.slice(0, colon).replaceAll(/[[\]]/g, ''), Number(address.slice(colon + 1))]
}
