/** Whether the servers speak HTTPS, and which authority this agent itself has to trust then. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'

export type HttpsSettings = Pick<
  Config,
  'AGENT_HTTPS' | 'AGENT_TLS_CERT_FILE' | 'AGENT_TLS_KEY_FILE' | 'AGENT_DATA_DIR'
>

/** Whether both servers speak HTTPS. */
export function isHttps({ AGENT_HTTPS, AGENT_TLS_CERT_FILE }: HttpsSettings): boolean {
  return AGENT_HTTPS ?? AGENT_TLS_CERT_FILE !== undefined
}

/** The certificate of the authority for development; undefined with another certificate, or without HTTPS. */
export function authorityFileOf(config: HttpsSettings): string | undefined {
  const isDevelopment = isHttps(config) && config.AGENT_TLS_CERT_FILE === undefined
  return isDevelopment ? join(config.AGENT_DATA_DIR, 'tls', 'ca.pem') : undefined
}

/** The servers of this agent, and the authority of their certificate for development, in PEM. */
export type OwnServers = { hosts: readonly string[]; authority: string }

/**
 * Two tenants of this agent call each other at its public URLs. Undefined with a certificate that others
 * trust.
 */
export function findOwnServers(
  config: HttpsSettings,
  urls: { rest: string; didcomm: string },
): OwnServers | undefined {
  const file = authorityFileOf(config)
  if (file === undefined) return undefined
  return {
    hosts: [new URL(urls.rest).host, new URL(urls.didcomm).host],
    authority: readFileSync(file, 'utf8'),
  }
}
