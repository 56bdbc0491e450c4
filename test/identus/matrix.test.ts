/**
 * Three implementations unpack each other's envelopes: this agent, didcomm-node and the stock Identus SDK,
 * between did:peer:2 DIDs (X25519).
 */
import { createRequire } from 'node:module'
import type { Agent, Domain } from '@hyperledger/identus-sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateKey, type PrivateJwk } from '../../src/foundation/crypto/keys.ts'
import { keysFor } from '../../src/did/document.ts'
import { createPeerDid, resolvePeerDid } from '../../src/did/peer.ts'
import { contentEncryptions } from '../../src/exchange/didcomm/content.ts'
import { packAnoncrypt, packAuthcrypt } from '../../src/exchange/didcomm/pack.ts'
import { unpack } from '../../src/exchange/didcomm/unpack.ts'
import { recipientOf } from '../support/party.ts'
import { startSdk } from './_holder.ts'
import { sdk } from './_sdk.ts'

type DidcommNode = typeof import('didcomm-node')
const { Message } = createRequire(import.meta.url)('didcomm-node') as DidcommNode

const type = 'https://didcomm.org/basicmessage/2.0/message'
const body = { content: 'für Ägypten 🏛' }

/** The protections of messages. The SDK and didcomm-node support some of them. */
const protections = ['authcrypt', ...contentEncryptions] as const
type Protection = (typeof protections)[number]

/**
 * An implementation with its own DID. `pack` returns nothing for unsupported protections; `open` reads an
 * envelope.
 */
type Implementation = {
  did: string
  pack: (protection: Protection, to: string) => Promise<string> | undefined
  open: (envelope: string) => Promise<unknown>
}

function newPerson() {
  const [keyAgreement, authentication] = [generateKey('X25519'), generateKey('Ed25519')]
  const did = createPeerDid({ keyAgreement, authentication, serviceUri: 'http://127.0.0.1:1/mailbox' })
  const kid = recipientOf(did).kid
  const keys: Record<string, PrivateJwk> = {
    [kid]: keyAgreement,
    [keysFor(resolvePeerDid(did), 'authentication')[0]!.id]: authentication,
  }
  return { did, kid, keyAgreement, keys }
}

function thisAgent(): Implementation {
  const { did, kid, keyAgreement } = newPerson()
  const newMessage = (to: string, from?: string) => ({
    id: 'an-id',
    type,
    to: [to],
    body,
    ...(from !== undefined && { from }),
  })
  return {
    did,
    pack: async (protection, to) => {
      const recipients = [recipientOf(to)]
      if (protection !== 'authcrypt') return packAnoncrypt(newMessage(to), { recipients, enc: protection })
      return packAuthcrypt(newMessage(to, did), { sender: { kid, privateJwk: keyAgreement }, recipients })
    },
    open: async (envelope) => {
      const findPrivateKey = async () => ({ kid, privateJwk: keyAgreement })
      return (await unpack(envelope, { findPrivateKey, resolve: async (peer) => resolvePeerDid(peer) }))
        .message.body
    },
  }
}

function didcommNode(): Implementation {
  const { did, keys } = newPerson()
  const ids = (entries: unknown[] = []) =>
    entries.map((entry) => (typeof entry === 'string' ? entry : (entry as { id: string }).id))
  const resolver = {
    resolve: async (peer: string) => {
      const { id, verificationMethod = [], keyAgreement, authentication } = resolvePeerDid(peer)
      return {
        id,
        verificationMethod,
        keyAgreement: ids(keyAgreement),
        authentication: ids(authentication),
        service: [],
      }
    },
  }
  const secrets = {
    get_secret: async (id: string) =>
      keys[id] ? { id, type: 'JsonWebKey2020', privateKeyJwk: keys[id] } : null,
    find_secrets: async (wanted: string[]) => wanted.filter((id) => keys[id]),
  }
  const encryption = {
    XC20P: 'Xc20pEcdhEsA256kw',
    'A256CBC-HS512': 'A256cbcHs512EcdhEsA256kw',
    A256GCM: 'A256gcmEcdhEsA256kw',
  } as const
  return {
    did,
    pack: async (protection, to) => {
      const from = protection === 'authcrypt' ? did : null
      const message = new Message({
        id: 'an-id',
        typ: 'application/didcomm-plain+json',
        type,
        to: [to],
        body,
        attachments: [],
        ...(from && { from }),
      })
      const options = {
        forward: false,
        ...(protection !== 'authcrypt' && { enc_alg_anon: encryption[protection] }),
      }
      const [envelope] = await message.pack_encrypted(to, from, null, resolver, secrets, options)
      return envelope
    },
    open: async (envelope) => (await Message.unpack(envelope, resolver, secrets, {}))[0].as_value().body,
  }
}

async function identusSdk(agent: Agent): Promise<Implementation> {
  const own = await agent.createNewPeerDID([], false)
  const newMessage = (to: Domain.DID, from?: Domain.DID) =>
    new sdk.Domain.Message(body, 'an-id', type, from, to)
  return {
    did: own.toString(),
    pack: (protection, to) => {
      if (protection !== 'authcrypt' && protection !== 'XC20P') return undefined
      return agent.mercury.packMessage(
        newMessage(sdk.Domain.DID.from(to), protection === 'authcrypt' ? own : undefined),
      )
    },
    open: async (envelope) => (await agent.mercury.unpackMessage(envelope)).body,
  }
}

let implementations: Record<string, Implementation>
const cells: string[] = []

beforeAll(async () => {
  const agent = await startSdk('http://127.0.0.1:9/')
  implementations = {
    'identity-agent': thisAgent(),
    'didcomm-node': didcommNode(),
    'identus-sdk': await identusSdk(agent),
  }
})

afterAll(() => {
  process.stdout.write(
    `\n| packed by | opened by | ${protections.join(' | ')} |\n|---|---|${'---|'.repeat(protections.length)}\n${cells.join('\n')}\n`,
  )
})

const names = ['identity-agent', 'didcomm-node', 'identus-sdk']

test.each(names.flatMap((packer) => names.map((opener) => [packer, opener] as const)))(
  '%s packs, %s unpacks',
  async (packer, opener) => {
    const [from, to] = [implementations[packer]!, implementations[opener]!]
    const row: string[] = []
    for (const protection of protections) {
      const envelope = await from.pack(protection, to.did)
      if (envelope !== undefined) expect(await to.open(envelope), protection).toEqual(body)
      row.push(envelope === undefined ? 'not packed' : 'opened')
    }
    expect(row[0]).toBe('opened')
    cells.push(`| ${packer} | ${opener} | ${row.join(' | ')} |`)
  },
)
