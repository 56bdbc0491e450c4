/**
 * Veramo 7 running the same flow as closely as possible: two agents over DIDComm v2 on loopback, a did:peer
 * each for the connection, a JWT credential and presentation (ES256K, did:key), every message stored. Veramo
 * has no protocols for connections, credentials and proofs: this file composes the messages with its plugins'
 * functions. Its data store is TypeORM with sql.js, in memory. It has no HTTP API and no webhooks.
 */
import { createServer } from 'node:http'
import { randomBytes, randomUUID } from 'node:crypto'
import { createAgent } from '@veramo/core'
import { CredentialProviderJWT } from '@veramo/credential-jwt'
import { CredentialPlugin } from '@veramo/credential-w3c'
import {
  DataStore,
  DataStoreORM,
  DIDStore,
  Entities,
  KeyStore,
  migrations,
  PrivateKeyStore,
} from '@veramo/data-store'
import { DIDComm, DIDCommHttpTransport, DIDCommMessageHandler } from '@veramo/did-comm'
import { DIDManager } from '@veramo/did-manager'
import { getDidKeyResolver, KeyDIDProvider } from '@veramo/did-provider-key'
import { getResolver, PeerDIDProvider } from '@veramo/did-provider-peer'
import { DIDResolverPlugin } from '@veramo/did-resolver'
import { KeyManager } from '@veramo/key-manager'
import { KeyManagementSystem, SecretBox } from '@veramo/kms-local'
import { MessageHandler } from '@veramo/message-handler'
import { Resolver } from 'did-resolver'
import { DataSource } from 'typeorm'
import { serve } from './_serve.mjs'

async function openAgent() {
  const store = await new DataSource({
    type: 'sqljs',
    entities: Entities,
    migrations,
    migrationsRun: true,
    synchronize: false,
  }).initialize()
  const secretBox = new SecretBox(randomBytes(32).toString('hex'))
  const agent = createAgent({
    plugins: [
      new KeyManager({
        store: new KeyStore(store),
        kms: { local: new KeyManagementSystem(new PrivateKeyStore(store, secretBox)) },
      }),
      new DIDManager({
        store: new DIDStore(store),
        defaultProvider: 'did:peer',
        providers: {
          'did:peer': new PeerDIDProvider({ defaultKms: 'local' }),
          'did:key': new KeyDIDProvider({ defaultKms: 'local' }),
        },
      }),
      new DIDResolverPlugin({ resolver: new Resolver({ ...getResolver(), ...getDidKeyResolver() }) }),
      new MessageHandler({ messageHandlers: [new DIDCommMessageHandler()] }),
      new DIDComm({ transports: [new DIDCommHttpTransport()] }),
      new CredentialPlugin([new CredentialProviderJWT()]),
      new DataStore(store),
      new DataStoreORM(store),
    ],
  })
  /** Received messages by id. */
  const came = new Map()
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', async () => {
      try {
        const message = await agent.handleMessage({ raw: Buffer.concat(chunks).toString(), save: true })
        came.set(message.id, message)
        response.writeHead(202).end()
      } catch (error) {
        response.writeHead(400).end(error.message)
      }
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${server.address().port}/`
  const { did } = await agent.didManagerCreate({
    provider: 'did:key',
    kms: 'local',
    options: { keyType: 'Secp256k1' },
  })
  return { agent, came, url, did }
}

const [acme, alice] = [await openAgent(), await openAgent()]

async function newPeer({ agent, url }) {
  const service = {
    id: `#${randomUUID()}`,
    type: 'DIDCommMessaging',
    serviceEndpoint: url,
    description: 'didcomm',
  }
  const { did } = await agent.didManagerCreate({
    provider: 'did:peer',
    kms: 'local',
    options: { num_algo: 2, service },
  })
  return did
}

/** Sends a message. Returns it as the other side received it. */
async function send(from, to, type, thid, body) {
  const message = {
    id: randomUUID(),
    type: `https://example.com/${type}`,
    from: from.peer,
    to: [to.peer],
    thid,
    body,
  }
  const packedMessage = await from.agent.packDIDCommMessage({ packing: 'authcrypt', message })
  await from.agent.sendDIDCommMessage({ messageId: message.id, packedMessage, recipientDidUrl: to.peer })
  const taken = to.came.get(message.id)
  to.came.delete(message.id)
  if (!taken) throw new Error(`${type} did not arrive`)
  return taken.data
}

serve(async () => {
  const thid = randomUUID()
  const issuer = { ...acme, peer: await newPeer(acme) }
  const holder = { ...alice, peer: await newPeer(alice) }
  await send(holder, issuer, 'connection-request', thid, {})
  await send(issuer, holder, 'connection-response', thid, {})

  const credentialSubject = { id: holder.did, familyName: 'Ärger', age: 42 }
  await send(issuer, holder, 'offer-credential', thid, { credentialSubject })
  // The proof of possession of the holder's key, as in a credential request.
  const proof = { holder: holder.did, verifier: [issuer.did] }
  const asked = await holder.agent.createVerifiablePresentation({
    presentation: proof,
    proofFormat: 'jwt',
    challenge: thid,
  })
  const { presentation } = await send(holder, issuer, 'request-credential', thid, {
    presentation: asked.proof.jwt,
  })
  await mustHold(issuer.agent.verifyPresentation({ presentation, challenge: thid }))
  const made = await issuer.agent.createVerifiableCredential({
    credential: { issuer: issuer.did, credentialSubject, type: ['VerifiableCredential'] },
    proofFormat: 'jwt',
  })
  const { credential } = await send(issuer, holder, 'issue-credential', thid, { credential: made.proof.jwt })
  await mustHold(holder.agent.verifyCredential({ credential }))
  await holder.agent.dataStoreSaveVerifiableCredential({ verifiableCredential: made })

  const challenge = randomUUID()
  await send(issuer, holder, 'request-presentation', challenge, { challenge })
  const shown = await holder.agent.createVerifiablePresentation({
    presentation: { holder: holder.did, verifier: [issuer.did], verifiableCredential: [credential] },
    proofFormat: 'jwt',
    challenge,
  })
  const received = await send(holder, issuer, 'presentation', challenge, { presentation: shown.proof.jwt })
  await mustHold(issuer.agent.verifyPresentation({ presentation: received.presentation, challenge }))
  await mustHold(issuer.agent.verifyCredential({ credential }))
})

async function mustHold(verification) {
  const { verified, error } = await verification
  if (!verified) throw new Error(`it does not hold: ${error?.message}`)
}
