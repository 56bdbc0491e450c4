/**
 * A wallet built with the stock Identus SDK, but without a mediator: its DIDs contain an HTTP inbox of this
 * process. Agent, Pluto, Castor, Apollo, Mercury (with didcomm-rust) and the HTTP client are those of the
 * SDK. The tests provide the store under Pluto, and a substitute for the mediator. The SDK's agent requires a
 * mediator before it connects: it writes the `uri` of the mediator connection into each new DID as endpoint,
 * and registers the DID with the mediator. So one mediator connection has the inbox as `uri`, and a second
 * connection discards the registrations. The inbox handles received messages like the SDK: it unpacks and
 * stores them, and emits a `message` event.
 */
import type { Agent, AgentContext, Domain } from '@hyperledger/identus-sdk'
import { memoryStore } from './_store.ts'
import { startServer, withBody } from '../support/server.ts'
import { didcomm, sdk } from './_sdk.ts'

/** Handles a received message. */
export type Answer = (message: Domain.Message, agent: Agent) => Promise<void>

export type Holder = {
  agent: Agent
  /** Waits for the next message of a type. Each message is returned once. */
  next: (type: string) => Promise<Domain.Message>
  /** True if the SDK verifies the signature with a key in the document of `issuer`. */
  verifies: (jws: string, issuer: string) => Promise<boolean>
  /** The same for an SD-JWT credential with all its disclosures. */
  verifiesSdJwt: (jws: string, issuer: string) => Promise<boolean>
  /**
   * Presents an SD-JWT credential that is bound to an Ed25519 key of the wallet. Discloses the claims that
   * are true in the frame.
   */
  show: (credential: Domain.Credential, frame: object) => Promise<string>
  [Symbol.asyncDispose](): Promise<void>
}

/** The time limit for the arrival of a message. */
const patienceMs = 60_000

/** A mediator's DID, and whether the wallet uses live delivery instead of polling. */
export type Mediation = { mediatorDID?: string; liveMode?: boolean }

/**
 * Creates the SDK's agent. `dids` is the URL of an agent's `GET /dids/{did}`, without the DID. `build` is the
 * build of the SDK.
 */
export async function startSdk(
  dids: string,
  mediation: Mediation = {},
  build: typeof sdk = sdk,
): Promise<Agent> {
  const apollo = new build.Apollo()
  const castor = new build.Castor(apollo, [documentResolver(dids)], dids)
  // The class and the interface differ in optional members that may also be undefined.
  const pluto = new build.Pluto(memoryStore(), apollo) as unknown as Domain.Pluto
  const { mediatorDID, liveMode = false } = mediation
  const agent = build.Agent.initialize({
    apollo,
    castor,
    pluto,
    ...(mediatorDID !== undefined && { mediatorDID }),
    options: { experiments: { liveMode } },
  })
  await agent.start()
  return agent
}

/** A build of the SDK: ES module or CommonJS. */
export type Build = { sdk: typeof sdk; didcomm: typeof didcomm }

/**
 * Starts a holder with an inbox; `dids` and `build` as above. The sender gets its response after `answer` has
 * handled the message.
 */
export async function startHolder(
  dids: string,
  answer?: Answer,
  build: Build = { sdk, didcomm },
): Promise<Holder> {
  const agent = await startSdk(dids, {}, build.sdk)
  const next = listen(agent)
  const inbox = await openInbox(agent, answer)
  // Set after the start, because the SDK's agent would otherwise poll the mediator every few seconds.
  agent.connections.addMediator(inboxIn(build, inbox.url))
  agent.connections.add({
    uri: noMediator,
    state: build.sdk.Connection.State.GRANTED,
    send: async () => undefined,
  })
  return {
    agent,
    next,
    ...sdJwts(agent),
    verifies: verifier(agent),
    async [Symbol.asyncDispose]() {
      await agent.stop()
      await inbox.close()
    },
  }
}

/** Starts a holder behind a mediator, entirely with the SDK. */
export async function startMediatedHolder(dids: string, mediation: Required<Mediation>): Promise<Holder> {
  const agent = await startSdk(dids, mediation)
  if (!mediation.liveMode) {
    // The default is five seconds.
    agent.stopFetchingMessages()
    await agent.startFetchingMessages(200)
  }
  return {
    agent,
    next: listen(agent),
    ...sdJwts(agent),
    verifies: verifier(agent),
    async [Symbol.asyncDispose]() {
      await agent.connections.mediator?.close()
      await agent.stop()
    },
  }
}

function verifier(agent: Agent): Holder['verifies'] {
  return (jws, issuer) =>
    agent.runTask(new Within(({ JWT }) => JWT.verify({ jws, issuerDID: sdk.Domain.DID.from(issuer) })))
}

/** SD-JWT functions of the SDK without a method of its agent. */
function sdJwts(agent: Agent): Pick<Holder, 'verifiesSdJwt' | 'show'> {
  return {
    verifiesSdJwt: (jws, issuer) =>
      agent.runTask(new Within(({ SDJWT }) => SDJWT.verify({ jws, issuerDID: sdk.Domain.DID.from(issuer) }))),
    async show(credential, frame) {
      const keys = await agent.pluto.getDIDPrivateKeysByDID(sdk.Domain.DID.from(credential.subject))
      const privateKey = keys.find(({ curve }) => curve === 'Ed25519')!
      return agent.runTask(
        new Within(({ SDJWT }) =>
          SDJWT.createPresentationFor({ jws: credential.id, privateKey, presentationFrame: frame }),
        ),
      )
    },
  }
}

const noMediator = 'did:example:no-mediator'

/** A mediator connection for the SDK without real DIDs. */
function inboxIn(build: Build, url: string) {
  class Inbox extends build.didcomm.MediatorConnection {
    override asMediator(): Domain.Mediator {
      const did = build.sdk.Domain.DID.from(noMediator)
      return { hostDID: did, mediatorDID: did, routingDID: did }
    }
  }
  return new Inbox(url, noMediator)
}

/** A task of the test: the SDK's modules are available only to tasks. */
class Within<T> extends sdk.Utils.Task<T, (modules: AgentContext) => Promise<T>> {
  override run(modules: object): Promise<T> {
    return this.args(modules as AgentContext)
  }
}

/**
 * Creates an `ExtraResolver` for the SDK that requests a bare document. The SDK's own resolver accepts any
 * media type, but reads bare documents only. The Cloud Agent and this agent both answer it with a resolution
 * result; then the SDK uses the next resolver, this one.
 */
function documentResolver(dids: string) {
  return class implements Domain.DIDResolver {
    readonly method = 'prism'
    async resolve(did: string) {
      const response = await fetch(dids + did, { headers: { accept: 'application/did+ld+json' } })
      if (!response.ok) throw new Error(`${did} does not resolve: ${response.status}`)
      return sdk.Domain.DIDDocument.fromJSON(await response.json())
    }
  }
}

/** The messages that the SDK announces. Each is returned to the first caller that waits for its type. */
function listen(agent: Agent): Holder['next'] {
  const unread: Domain.Message[] = []
  const waiting = new Set<() => void>()
  agent.addListener(sdk.ListenerKey.MESSAGE, (messages) => {
    unread.push(...messages)
    for (const look of waiting) look()
  })
  return (type) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const index = unread.findIndex(({ piuri }) => piuri === type)
        if (index >= 0) end(() => resolve(unread.splice(index, 1)[0]!))
      }
      const others = () => unread.map(({ piuri }) => piuri).join(', ')
      const timer = setTimeout(
        () => end(() => reject(new Error(`no ${type} came, only [${others()}]`))),
        patienceMs,
      )
      const end = (finish: () => void) => {
        clearTimeout(timer)
        waiting.delete(look)
        finish()
      }
      waiting.add(look)
      look()
    })
}

/** An HTTP endpoint that passes messages to the SDK. 400 for messages that the SDK cannot read. */
async function openInbox(agent: Agent, answer?: Answer) {
  const take = async (envelope: string) => {
    const message = await agent.mercury.unpackMessage(envelope)
    await agent.pluto.storeMessages([message])
    agent.events.emit(sdk.ListenerKey.MESSAGE, [message])
    await answer?.(message, agent)
  }
  const server = await startServer(
    withBody((body, _, response) => {
      const reply = (status: number, text = '') => response.writeHead(status).end(text)
      take(body).then(
        () => reply(200),
        (error: unknown) => reply(400, String(error)),
      )
    }),
  )
  return { url: `${server.url}/inbox`, close: () => server[Symbol.asyncDispose]() }
}
