/** Storage operations: their bytes, compared with an encoder of the published definition, and their rules. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { masterKeyId, type StorageOperation } from '../../../src/did/prism/model.ts'
import { decodeOperation } from '../../../src/did/prism/decode.ts'
import { encodeOperation, operationHash, signOperation } from '../../../src/did/prism/operations.ts'
import { apply } from '../../../src/did/prism/state.ts'
import { readEntryEvent } from '../../../src/did/prism/storage.ts'
import {
  at,
  key,
  master,
  masterKey,
  published,
  secret,
  signedCreate,
  signedUpdate,
  updated,
} from './_make.ts'

const publishedProto = ['prism', 'prism-storage']
  .map((name) => readFileSync(new URL(`../../../fixtures/did-prism/proto/${name}.proto`, import.meta.url)))
  .join('\n')

/** The number of a field in the published definition. */
function numberOf(message: string, field: string): number {
  const body = publishedProto.split(`message ${message}`)[1]!.split('\n}')[0]!
  return Number(new RegExp(String.raw`\b${field} = (\d+);`).exec(body)![1])
}

/**
 * A length-delimited field of the Protocol Buffers wire format, or nothing for an empty one outside of a
 * oneof.
 */
function field(message: string, name: string, content: Uint8Array, isInOneof = false): Buffer {
  if (content.length === 0 && !isInOneof) return Buffer.alloc(0)
  return Buffer.concat([varint((numberOf(message, name) << 3) | 2), varint(content.length), content])
}

function varint(value: number): Buffer {
  return value < 128
    ? Buffer.of(value)
    : Buffer.concat([Buffer.of((value % 128) | 128), varint(Math.floor(value / 128))])
}

const bytes = (hex: string) => Buffer.from(hex, 'hex')
const suffix = '0f'.repeat(32)
const previousHash = 'a1'.repeat(32)
const nonce = bytes('000102030405060708090a0b0c0d0e0f')

/** The bytes of an operation, by the published definition alone. */
function encodePublished(operation: StorageOperation): Buffer {
  const wrap = (name: string, ...parts: Buffer[]) => field('PrismOperation', name, Buffer.concat(parts), true)
  switch (operation.operation) {
    case 'createEntry': {
      const of = (...rest: [string, Uint8Array, boolean?]) => field('ProtoCreateStorageEntry', ...rest)
      const { nonce: once, content } = operation
      const parts = [
        of('did_prism_hash', bytes(operation.suffix)),
        of('nonce', once),
        of('bytes', content, true),
      ]
      return wrap('create_storage_entry', ...parts)
    }
    case 'updateEntry': {
      const of = (...rest: [string, Uint8Array, boolean?]) => field('ProtoUpdateStorageEntry', ...rest)
      const parts = [
        of('previous_event_hash', bytes(operation.previousHash)),
        of('bytes', operation.content, true),
      ]
      return wrap('update_storage_entry', ...parts)
    }
    case 'deactivateEntry': {
      const hash = bytes(operation.previousHash)
      return wrap(
        'deactivate_storage_entry',
        field('ProtoDeactivateStorageEntry', 'previous_event_hash', hash),
      )
    }
  }
}

const contents = [
  bytes(''),
  bytes('112233'),
  Buffer.alloc(127, 1),
  Buffer.alloc(128, 2),
  Buffer.alloc(40_000, 3),
]
const operations: StorageOperation[] = [
  ...contents.flatMap((content): StorageOperation[] => [
    { operation: 'createEntry', suffix, nonce, content },
    { operation: 'createEntry', suffix, nonce: bytes(''), content },
    { operation: 'updateEntry', previousHash, content },
  ]),
  { operation: 'deactivateEntry', previousHash },
]

test('the bytes are those of the published definition, and are read again', () => {
  for (const operation of operations) {
    const encoded = Buffer.from(encodeOperation(operation))
    expect(encoded.toString('hex')).toBe(encodePublished(operation).toString('hex'))
    expect(plain(decodeOperation(encoded))).toEqual(plain(operation))
  }
})

const plain = (value: object) =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && 'type' in each && each.type === 'Buffer'
      ? Buffer.from((each as unknown as { data: number[] }).data).toString('hex')
      : each instanceof Uint8Array
        ? Buffer.from(each).toString('hex')
        : each,
  )

test('an event has the hash of its operation, which is the id of a new entry', () => {
  const encoded = encodeOperation(operations[1]!)
  const signed = signOperation(encoded, 'vdr-1', secret('vdr'))
  const hash = createHash('sha256').update(encoded).digest('hex')
  expect(readEntryEvent(signed)).toMatchObject({ hash })
  expect(readEntryEvent(signed)).not.toHaveProperty('previousHash')
  expect(readEntryEvent(signOperation(encodeOperation(operations.at(-1)!), 'vdr-1', secret('vdr')))).toEqual({
    hash: operationHash(encodeOperation(operations.at(-1)!)),
    previousHash,
  })
  expect(readEntryEvent(signedCreate())).toBeUndefined()
})

test.each([
  ['a DID of another length', { ...operations[0]!, suffix: '0f'.repeat(31) }, 'did_prism_hash has 31 bytes'],
  ['no previous hash', { ...operations.at(-1)!, previousHash: '' }, 'previous_event_hash has 0 bytes'],
])('an operation with %s is refused', (_name, operation, reason) => {
  expect(() => decodeOperation(encodeOperation(operation))).toThrow(reason)
})

test('content of another type than bytes is refused', () => {
  const [of, cid] = ['ProtoUpdateStorageEntry', Buffer.from('bafkreia')]
  const hash = field(of, 'previous_event_hash', bytes(previousHash))
  for (const parts of [[hash, field(of, 'ipfs', cid)], [hash], [hash, field(of, 'statusListEntry', cid)]])
    expect(() =>
      decodeOperation(field('PrismOperation', 'update_storage_entry', Buffer.concat(parts), true)),
    ).toThrow('the data of the storage entry is not bytes')
})

describe('an operation is accepted', () => {
  const owner = published({ publicKeys: [key('vdr-1', 'vdr'), masterKey] })
  const creation = { operation: 'createEntry', suffix: owner.suffix, nonce, content: nonce } as const
  const sign = (by: string, privateKey = secret('vdr')) =>
    signOperation(encodeOperation(creation), by, privateKey)

  test('with an active VDR key of the DID, whose state it does not change', () => {
    expect(apply(owner, sign('vdr-1'), at)).toBe(owner)
    // The next operation on the DID follows its last one, not that on the entry.
    expect(() => signedUpdate(owner, [{ action: 'removeKey', id: 'vdr-1' }])).not.toThrow()
  })

  test.each([
    ['the master key', () => sign(masterKeyId, master), owner, 'signed_with names no active vdr key'],
    ['a key of another DID', () => sign('vdr-1', secret('vdr', 1)), owner, 'the signature is not by the key'],
    [
      'a removed key',
      () => sign('vdr-1'),
      updated(owner, { action: 'removeKey', id: 'vdr-1' }),
      'signed_with names no active vdr key',
    ],
    ['a deactivated DID', () => sign('vdr-1'), { ...owner, deactivated: true }, 'is deactivated'],
    ['an unknown DID', () => sign('vdr-1'), undefined, 'the DID does not exist'],
  ] as const)('but not with %s', (_name, make, state, reason) => {
    expect(() => apply(state, make(), at)).toThrow(reason)
  })
})
