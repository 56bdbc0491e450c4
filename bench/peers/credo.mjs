/**
 * Credo-TS 0.6 running the same flow as closely as possible: two agents over DIDComm v1 on loopback, DID
 * Exchange, Issue Credential 2.0 and Present Proof 2.0 with their own state machines and automatic
 * acceptance. It has no JWT credentials over these protocols; the credential is JSON-LD
 * (Ed25519Signature2018), presented with DIF Presentation Exchange. Its records are in memory (`_credo-
 * storage.mjs`), since its own store is a downloaded binary. It has no HTTP API and no webhooks.
 */
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { createServer } from 'node:http'
import {
  Agent,
  DidsModule,
  InjectionSymbols,
  KeyDidRegistrar,
  KeyDidResolver,
  Kms,
  PeerDidRegistrar,
  PeerDidResolver,
  W3cCredentialsModule,
} from '@credo-ts/core'
import * as didcomm from '@credo-ts/didcomm'
import { agentDependencies, DidCommHttpInboundTransport } from '@credo-ts/node'
import { Keys } from './_credo-keys.mjs'
import { Storage } from './_credo-storage.mjs'
import { serve } from './_serve.mjs'

// Its transport adds a listener for each message in transit.
EventEmitter.defaultMaxListeners = 200

class Memory {
  #storage = new Storage()
  register(dependencies) {
    dependencies.registerInstance(InjectionSymbols.StorageService, this.#storage)
    dependencies.resolve(Kms.KeyManagementModuleConfig).registerBackend(new Keys())
  }
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function openAgent(name) {
  const port = await freePort()
  const agent = new Agent({
    config: { label: name, autoUpdateStorageOnStartup: true },
    dependencies: agentDependencies,
    modules: {
      memory: new Memory(),
      dids: new DidsModule({
        resolvers: [new KeyDidResolver(), new PeerDidResolver()],
        registrars: [new KeyDidRegistrar(), new PeerDidRegistrar()],
      }),
      w3c: new W3cCredentialsModule(),
      didcomm: new didcomm.DidCommModule({
        endpoints: [`http://127.0.0.1:${port}`],
        transports: {
          inbound: [new DidCommHttpInboundTransport({ port })],
          outbound: [new didcomm.DidCommHttpOutboundTransport()],
        },
        processDidCommMessagesConcurrently: true,
        connections: { autoAcceptConnections: true },
        credentials: {
          autoAcceptCredentials: didcomm.DidCommAutoAcceptCredential.Always,
          credentialProtocols: [
            new didcomm.DidCommCredentialV2Protocol({
              credentialFormats: [new didcomm.DidCommJsonLdCredentialFormatService()],
            }),
          ],
        },
        proofs: {
          autoAcceptProofs: didcomm.DidCommAutoAcceptProof.Always,
          proofProtocols: [
            new didcomm.DidCommProofV2Protocol({
              proofFormats: [new didcomm.DidCommDifPresentationExchangeProofFormatService()],
            }),
          ],
        },
      }),
    },
  })
  await agent.initialize()
  const waiting = new Map()
  /** Resolves with the record of a thread in a state; runs `after` once the wait has started. */
  const reached = (subject, state) => new Promise((resolve) => waiting.set(`${subject} ${state}`, resolve))
  const tell = (record) => {
    for (const subject of [record.threadId, record.outOfBandId]) {
      const key = `${subject} ${record.state}`
      waiting.get(key)?.(record)
      waiting.delete(key)
    }
  }
  agent.events.on(didcomm.DidCommConnectionEventTypes.DidCommConnectionStateChanged, ({ payload }) =>
    tell(payload.connectionRecord),
  )
  agent.events.on(didcomm.DidCommCredentialEventTypes.DidCommCredentialStateChanged, ({ payload }) =>
    tell(payload.credentialExchangeRecord ?? payload.credentialRecord),
  )
  agent.events.on(didcomm.DidCommProofEventTypes.ProofStateChanged, ({ payload }) =>
    tell(payload.proofRecord),
  )
  const { didState } = await agent.dids.create({
    method: 'key',
    options: { createKey: { type: { kty: 'OKP', crv: 'Ed25519' } } },
  })
  return { agent, reached, did: didState.did }
}

const [acme, alice] = [await openAgent('acme'), await openAgent('alice')]

serve(async () => {
  const { outOfBandInvitation, id: invitedId } = await acme.agent.didcomm.oob.createInvitation({
    autoAcceptConnection: true,
  })
  const invited = acme.reached(invitedId, 'completed')
  const received = await alice.agent.didcomm.oob.receiveInvitation(outOfBandInvitation, {
    label: 'alice',
    autoAcceptConnection: true,
  })
  const invitee = alice.agent.didcomm.connections.returnWhenIsConnected(received.connectionRecord.id)
  const [{ id: connectionId }] = await Promise.all([invited, invitee])

  const offer = await acme.agent.didcomm.credentials.offerCredential({
    protocolVersion: 'v2',
    connectionId,
    credentialFormats: {
      jsonld: {
        credential: {
          '@context': ['https://www.w3.org/2018/credentials/v1', { '@vocab': 'https://example.com/#' }],
          type: ['VerifiableCredential'],
          issuer: acme.did,
          issuanceDate: new Date().toISOString(),
          credentialSubject: { id: alice.did, familyName: 'Ärger', age: 42 },
        },
        options: { proofType: 'Ed25519Signature2018', proofPurpose: 'assertionMethod' },
      },
    },
  })
  const [, held] = await Promise.all([
    acme.reached(offer.threadId, 'done'),
    alice.reached(offer.threadId, 'done'),
  ])

  const request = await acme.agent.didcomm.proofs.requestProof({
    protocolVersion: 'v2',
    connectionId,
    proofFormats: {
      presentationExchange: {
        presentationDefinition: {
          id: randomUUID(),
          input_descriptors: [
            {
              id: 'person',
              schema: [{ uri: 'https://www.w3.org/2018/credentials/v1' }],
              constraints: { fields: [{ path: ['$.credentialSubject.age'] }] },
            },
          ],
        },
        options: { challenge: randomUUID(), domain: 'https://verifier.example' },
      },
    },
  })
  const [{ isVerified }] = await Promise.all([
    acme.reached(request.threadId, 'done'),
    alice.reached(request.threadId, 'done'),
  ])
  if (!isVerified) throw new Error('the presentation does not hold')
  // Credo searches all credentials for a proof. Keep one at a time, so that the search has constant cost.
  for (const { credentialRecordId } of held.credentials)
    await alice.agent.w3cCredentials.deleteById(credentialRecordId)
})
