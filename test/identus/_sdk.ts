/** The stock Identus SDK for TypeScript, loaded once and quietly: its WASM glue greets every process with a deprecation warning. */
const { warn } = console
console.warn = () => undefined
export const sdk = await import('@hyperledger/identus-sdk')
export const didcomm = await import('@hyperledger/identus-sdk/plugins/didcomm')
console.warn = warn
