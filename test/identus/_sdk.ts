/** The stock Identus SDK for TypeScript, loaded once, without the deprecation warning of its WASM glue. */
import { createRequire } from 'node:module'
import type { Agent } from '@hyperledger/identus-sdk'

const require = createRequire(import.meta.url)
const { warn } = console
console.warn = () => undefined
export const sdk = await import('@hyperledger/identus-sdk')
export const didcomm = await import('@hyperledger/identus-sdk/plugins/didcomm')
console.warn = warn

/**
 * The same as CommonJS. Only this build supports AnonCreds: in the ES module, the library finds no source of
 * random numbers.
 */
export function loadCommonJs() {
  return {
    sdk: require('@hyperledger/identus-sdk') as typeof sdk,
    didcomm: require('@hyperledger/identus-sdk/plugins/didcomm') as typeof didcomm,
    anoncreds: require('@hyperledger/identus-sdk/plugins/anoncreds') as {
      plugin: Parameters<Agent['plugins']['register']>[0]
    },
  }
}
