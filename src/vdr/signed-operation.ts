/** What a ledger reads of a signed operation before anybody judges it. */
import { toHex } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { compressed } from '../crypto/secp256k1.ts'
import { decodeOperation, decodeSigned } from '../did/prism/decode.ts'
import { InvalidOperation } from '../did/prism/model.ts'
import { operationId } from '../did/prism/operations.ts'
import { subjectOf } from '../did/prism/state.ts'

/** `masterKeys` are those that a create operation names: compressed points on secp256k1, in hexadecimal, each once. */
export type ReadOperation = {
  operationId: string
  suffix: string
  masterKeys: string[]
  signedOperation: Uint8Array
}

/** Reads the bytes of a `SignedAtalaOperation`. @throws {Problem} `BadRequest` when they are no signed operation on a DID. */
export function readOperation(signedOperation: Uint8Array): ReadOperation {
  try {
    const suffix = subjectOf(signedOperation)
    return {
      operationId: operationId(signedOperation),
      suffix,
      masterKeys: masterKeysOf(signedOperation),
      signedOperation,
    }
  } catch (error) {
    if (error instanceof InvalidOperation)
      throw new Problem('BadRequest', `the signed operation cannot be taken: ${error.message}`)
    throw error
  }
}

function masterKeysOf(signedOperation: Uint8Array): string[] {
  const operation = decodeOperation(decodeSigned(signedOperation).operation)
  if (operation.operation !== 'create') return []
  const keys = operation.publicKeys.filter(
    ({ usage, publicKey }) => usage === 'master' && publicKey.crv === 'secp256k1',
  )
  return [...new Set(keys.map(({ publicKey }) => toHex(compressed(publicKey))))]
}
