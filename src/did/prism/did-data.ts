/**
 * `DIDData` (wire.md 11.3): what a node's answer carries of a published DID. It has no hash and no times; which ids are retired is
 * told in fields of ours, so that of a DID that another node tells of nothing is known to be retired.
 */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { reasonOf } from '../../base/reason.ts'
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

/** Keys and services are bounded by the rules, but every one that there ever was leaves its id behind. */
const maximumBytes = 1_000_000

/** The bytes of a DID's data. */
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

/** Reads a DID's data. @throws {InvalidOperation} when the bytes are none, or say what no operation could have made. */
export function decodeDidData(bytes: Uint8Array): DidData {
  if (bytes.length > maximumBytes) throw new InvalidOperation(`DIDData has more than ${maximumBytes} bytes`)
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
    throw new InvalidOperation(`the bytes are no DIDData: ${reasonOf(error)}`, { cause: error })
  }
}
