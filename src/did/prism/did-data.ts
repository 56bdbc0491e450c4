/**
 * `DIDData` (PRISM DID Method, "Protocol Buffers"): the keys and services of a published DID in a node's
 * response. The retired ids are an extension, which other nodes leave out.
 */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { reasonOf } from '../../foundation/reason.ts'
import { toKey } from './decode.ts'
import { InvalidOperation } from './model.ts'
import { toKeyMessage } from './operations.ts'
import { DIDDataSchema } from './prism_pb.ts'
import { checkContexts, checkKey, checkService } from './rules.ts'
import type { DidState } from './state.ts'

/** The part of a state that `DIDData` carries. */
export type DidData = Pick<
  DidState,
  'suffix' | 'publicKeys' | 'services' | 'contexts' | 'retiredKeyIds' | 'retiredServiceIds'
>

/** Limit on `DIDData`. The number of retired ids is not limited by the rules. */
const maxBytes = 1_000_000

export function encodeDidData({
  suffix: id,
  publicKeys,
  services,
  contexts,
  retiredKeyIds,
  retiredServiceIds,
}: DidData): Uint8Array {
  const data = {
    id,
    publicKeys: publicKeys.map(toKeyMessage),
    services: [...services],
    context: [...contexts],
    retiredKeyIds: [...retiredKeyIds],
    retiredServiceIds: [...retiredServiceIds],
  }
  return toBinary(DIDDataSchema, create(DIDDataSchema, data))
}

/** Decodes `DIDData`. @throws {InvalidOperation} for malformed bytes, or a broken rule of the method */
export function decodeDidData(bytes: Uint8Array): DidData {
  if (bytes.length > maxBytes) throw new InvalidOperation(`DIDData has more than ${maxBytes} bytes`)
  const { id, publicKeys, services, context, retiredKeyIds, retiredServiceIds } = read(bytes)
  const data = {
    suffix: id,
    publicKeys: publicKeys.map(toKey),
    services: services.map(({ id, type, serviceEndpoint }) => ({ id, type, serviceEndpoint })),
    contexts: context,
    retiredKeyIds,
    retiredServiceIds,
  }
  data.publicKeys.forEach(checkKey)
  data.services.forEach(checkService)
  checkContexts(data.contexts)
  for (const list of [data.publicKeys, data.services]) {
    if (new Set(list.map(({ id }) => id)).size !== list.length)
      throw new InvalidOperation('an id is there twice')
  }
  return data
}

function read(bytes: Uint8Array) {
  try {
    return fromBinary(DIDDataSchema, bytes)
  } catch (error) {
    throw new InvalidOperation(`the bytes are not DIDData: ${reasonOf(error)}`, { cause: error })
  }
}
