/** did:prism operations for the ledger, each for a new DID. */
import { create, toBinary } from '@bufbuild/protobuf'
import { toHex } from '../../src/foundation/bytes.ts'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { masterKeyId } from '../../src/did/prism/model.ts'
import { AtalaObjectSchema } from '../../src/did/prism/prism_pb.ts'
import { encodeOperation, signOperation } from '../../src/did/prism/operations.ts'
import type { Draw } from './_draw.ts'

/** A signed create operation in hexadecimal, sometimes with a flipped bit. */
export function newOperation(draw: Pick<Draw, 'share' | 'below'>): string {
  const master = generateKey('secp256k1')
  const publicKeys = [{ id: masterKeyId, usage: 'master' as const, publicKey: toPublic(master) }]
  const operation = Buffer.from(
    signOperation(
      encodeOperation({ operation: 'create', publicKeys, services: [], contexts: [] }),
      masterKeyId,
      master,
    ),
  )
  return spoilt(draw, operation)
}

function spoilt(draw: Pick<Draw, 'share' | 'below'>, bytes: Buffer): string {
  if (draw.share(0.5)) bytes[draw.below(bytes.length)]! ^= 1 << draw.below(8)
  return bytes.toString('hex')
}

/** A PrismObject with one such operation, in hexadecimal. */
export function newObject(draw: Draw): string {
  const whole = { share: () => false, below: (end: number) => draw.below(end) }
  const operation = Buffer.from(newOperation(whole), 'hex')
  const object = Buffer.from(
    toBinary(AtalaObjectSchema, create(AtalaObjectSchema, { blockContent: { operations: [operation] } })),
  )
  return spoilt(draw, object)
}

/** The public half of a key on secp256k1, compressed (SEC 1 §2.3.3), in hexadecimal. */
export function newMasterKey(): string {
  const { x, y } = generateKey('secp256k1')
  return `0${2 + (Buffer.from(y!, 'base64url').at(-1)! % 2)}${toHex(Buffer.from(x, 'base64url'))}`
}
