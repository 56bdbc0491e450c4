/**
 * COSE (RFC 9052): signed messages, MACs and keys, and CBOR Web Tokens (RFC 8392), as ISO 18013-5 uses them.
 *
 * Readers verify nothing: `verifySign1` and `verifyMac0` do. They accept some mistakes of others, and name
 * each to `warn`.
 */
export {
  algorithmOf,
  algorithmOfKey,
  type CoseAlgorithm,
  coseAlgorithms,
  hmac256,
  pairing,
} from './algorithms.ts'
export { claim, readCwt, signCwt } from './cwt.ts'
export { fromCoseKey, toCoseKey } from './keys.ts'
export { type CoseMac0, mac0Tag, macInput, readMac0, verifyMac0 } from './mac0.ts'
export {
  CoseError,
  type CoseHeaders,
  type CoseWarning,
  coseWarnings,
  header,
  type ReadOptions,
} from './message.ts'
export {
  type CoseSign1,
  readSign1,
  sign1Tag,
  signatureInput,
  type Signing,
  signSign1,
  verifySign1,
} from './sign1.ts'
export { readX5chain, toX5chain } from './x5chain.ts'
