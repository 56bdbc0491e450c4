/**
 * A wallet as people build it with the stock Identus SDK, but without a mediator: its DIDs name an HTTP inbox
 * of this process.
 *
 * The SDK's own, unchanged, are its Agent (invitations, offers, issued credentials, presentations), Pluto,
 * Castor, Apollo, Mercury with didcomm-rust inside, and its HTTP client. Ours is the store under Pluto, and
 * what stands in for a mediator, which the Agent insists on before it connects: it writes the `uri` of its
 * mediator connection into each new DID as the place to send to, and tells the mediator of that DID. So a
 * mediator connection whose `uri` is the inbox, and another one that swallows what a mediator would be told,
 * make a wallet that is reached directly. What arrives is handled as the SDK handles what it picks up:
 * unpacked, stored, and announced as a `message` event.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Agent, AgentContext, Domain } from '@hyperledger/identus-sdk'
import { memoryStore } from './_store.ts'
import { didcomm, sdk } from './_sdk.ts'

/** Does something with a message that has arrived. */
export type Answer = (message: Domain.Message, agent: Agent) => Promise<void>

export type Holder = {
  agent: Agent
  /** Waits for the next message of a type that the SDK announces. Each message is returned once. */
  next: (type: string) => Promise<Domain.Message>
  /** True when the SDK finds that the document of `issuer` has the key that signed the credential. */
  verifies: (jws: string, issuer: string) => Promise<boolean>
  /** The same of an SD-JWT credential, with all its disclosures. */
  verifiesSdJwt: (jws: string, issuer: string) => Promise<boolean>
  /**
   * Presents claims of an SD-JWT credential that has a key of the wallet's on Ed25519; what is true in the
   * frame is shown.
   */
  show: (credential: Domain.Credential, frame: object) => Promise<string>
  [Symbol.asyncDispose](): Promise<void>
}

/** How long a message may take to arrive. */
const patienceMs = 10_000

/** A mediator's DID, and whether the wallet listens to it instead of asking. */
export type Mediation = { mediatorDID?: string; liveMode?: boolean }

/**
 * Makes the SDK's agent with nothing around it. `dids` is the address of an agent's `GET /dids/{did}`,
 * without the DID. `build` is another of the SDK's builds than the usual one.
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

/** One of the SDK's builds. */
export type Build = { sdk: typeof sdk; didcomm: typeof didcomm }

/**
 * Starts a holder that can be reached; `dids` and `build` as above. What `answer` does with a message is done
 * before the sender hears that it came.
 */
export async function startHolder(
  dids: string,
  answer?: Answer,
  build: Build = { sdk, didcomm },
): Promise<Holder> {
  const agent = await startSdk(dids, {}, build.sdk)
  const next = listen(agent)
  const inbox = await openInbox(agent, answer)
  // Had the agent a mediator when it starts, it would ask it for messages every few seconds.
  agent.connections.addMediator(inboxIn(build, inbox.url))
  agent.connections.add({
    uri: nobody,
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

/** Starts a holder behind a mediator, which is the SDK's own business throughout. */
export async function startMediatedHolder(dids: string, mediation: Required<Mediation>): Promise<Holder> {
  const agent = await startSdk(dids, mediation)
  if (!mediation.liveMode) {
    // Every five seconds is the default.
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

/** SD-JWT functions of the SDK that its agent has no method for. */
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

const nobody = 'did:example:nobody'

/** A mediator to the SDK, only not one that has DIDs. */
function inboxIn(build: Build, url: string) {
  class Inbox extends build.didcomm.MediatorConnection {
    override asMediator(): Domain.Mediator {
      const did = build.sdk.Domain.DID.from(nobody)
      return { hostDID: did, mediatorDID: did, routingDID: did }
    }
  }
  return new Inbox(url, nobody)
}

/** A task of the caller's: the SDK's modules are reached only within one. */
class Within<T> extends sdk.Utils.Task<T, (modules: AgentContext) => Promise<T>> {
  override run(modules: object): Promise<T> {
    return this.args(modules as AgentContext)
  }
}

/**
 * Makes a resolver of the SDK's `ExtraResolver` kind, which asks for a bare document.
 *
 * The SDK's own asks for any media type, and can read nothing else than a bare document. What it gets by that
 * is a resolution result, from the Cloud Agent as from this agent; then the SDK tries the next resolver,
 * which is this one.
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

/** The messages that the SDK announces. Each is returned once, to the first that waits for its type. */
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
      const end = (settle: () => void) => {
        clearTimeout(timer)
        waiting.delete(look)
        settle()
      }
      waiting.add(look)
      look()
    })
}

/** An HTTP endpoint that gives what is sent to it to the SDK; 400 for what the SDK cannot read. */
async function openInbox(agent: Agent, answer?: Answer) {
  const take = async (envelope: string) => {
    const message = await agent.mercury.unpackMessage(envelope)
    await agent.pluto.storeMessages([message])
    agent.events.emit(sdk.ListenerKey.MESSAGE, [message])
    await answer?.(message, agent)
  }
  const server = createServer((request, response) => {
    const reply = (status: number, text = '') => response.writeHead(status).end(text)
    request
      .toArray()
      .then((chunks) => take(Buffer.concat(chunks).toString()))
      .then(
        () => reply(200),
        (error: unknown) => reply(400, String(error)),
      )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/inbox`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
