/** Three people of the tests: their documents, keys and unpack options. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import type { PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { DidDocument, keysFor } from '../../../src/did/document.ts'
import type { PrivateKey } from '../../../src/exchange/didcomm/jwe.ts'
import type { PlaintextMessage } from '../../../src/exchange/didcomm/message.ts'
import type { Recipient } from '../../../src/exchange/didcomm/pack.ts'
import type { UnpackOptions } from '../../../src/exchange/didcomm/unpack.ts'

export type Name = 'anna' | 'ben' | 'mallory'

const Secret = z.object({
  kty: z.string(),
  crv: z.string(),
  x: z.string(),
  y: z.string().optional(),
  d: z.string(),
})
const Person = z.object({ document: DidDocument, secrets: z.record(z.string(), Secret) })
const Fixture = z.object({ people: z.object({ anna: Person, ben: Person, mallory: Person }) })
const { people } = Fixture.parse(
  JSON.parse(readFileSync(new URL('../../../fixtures/didcomm/people.json', import.meta.url), 'utf8')),
)

export const documents: Record<string, DidDocument> = Object.fromEntries(
  Object.values(people).map(({ document }) => [document.id, document]),
)

/** Every secret of these people, by its full id. */
export const secrets: Record<string, PrivateJwk> = Object.assign(
  {},
  ...Object.values(people).map((person) => person.secrets),
)

export const didOfPerson = (name: Name) => `did:example:${name}`

/** A private key with its id. */
export const own = (name: Name, fragment = 'x25519'): PrivateKey => {
  const kid = `${didOfPerson(name)}#${fragment}`
  return { kid, privateJwk: secrets[kid]! }
}

/** A public key with its id. */
export const recipient = (name: Name, fragment = 'x25519'): Recipient => {
  const { kid, privateJwk } = own(name, fragment)
  const { d: _secret, ...publicJwk } = privateJwk
  return { kid, publicJwk }
}

export const resolve = async (did: string): Promise<DidDocument> => {
  const document = documents[did]
  if (!document) throw new Error(`${did} is not known here`)
  return document
}

/** The unpack options of one person: their keys, and the documents of all. */
export const as = (name: Name, fragments?: string[]): UnpackOptions => ({
  findPrivateKey: async (kids) => {
    const mine = kids.find(
      (kid) =>
        kid.startsWith(`${didOfPerson(name)}#`) &&
        secrets[kid] &&
        (!fragments || fragments.includes(kid.split('#')[1]!)),
    )
    return mine === undefined ? undefined : { kid: mine, privateJwk: secrets[mine]! }
  },
  resolve,
})

/** The keyAgreement keys of a document. */
export const agreementKids = (name: Name) =>
  keysFor(documents[didOfPerson(name)]!, 'keyAgreement').map(({ id }) => id)

/** A message from anna to ben, with changes. */
export const newMessage = (changes: Partial<PlaintextMessage> = {}): PlaintextMessage => ({
  id: '9f0b9f3e-8f9a-4a55-93a4-6f2f3a1b5a11',
  typ: 'application/didcomm-plain+json',
  type: 'https://didcomm.org/basicmessage/2.0/message',
  from: didOfPerson('anna'),
  to: [didOfPerson('ben')],
  created_time: 1_700_000_000,
  body: { content: 'a table for two' },
  ...changes,
})
