/**
 * The DIDComm endpoint: `POST /{mailbox}` and `POST /` on a port of its own (wire.md 1.1, api.md 12.1).
 *
 * It is for everybody: what gets in is what was encrypted for a DID that is here, whoever brings it. So `Host` and `Origin` are not asked for.
 */
import { bodyParser } from '@koa/bodyparser'
import Koa, { type Context } from 'koa'
import type { Agent } from '../../src/agent.ts'
import { isTemporary, Problem } from '../../src/base/problem.ts'
import { didOf } from '../../src/did/document.ts'
import { encryptedType, parseEnvelope } from '../../src/didcomm/jwe.ts'
import { findEndpoint, peerDidsOnly } from '../../src/didcomm/route.ts'
import { unpack } from '../../src/didcomm/unpack.ts'
import { handlers } from '../../src/protocols/index.ts'
import { receive } from '../../src/protocols/engine/receive.ts'
import { resolverOf } from '../../src/protocols/engine/send.ts'
import { forRequest, type Wallet } from '../../src/wallet/wallet.ts'
import { findFirstPeerKey } from '../../src/wallet/peer-dids.ts'
import { withQuotas } from '../../src/wallet/quotas.ts'
import { addressOf } from '../http/address.ts'
import { mediatorPages, takeForMediator } from './mediator.ts'
import { cors } from '../middleware/cors.ts'
import { fairness } from '../middleware/fairness.ts'
import { head } from '../middleware/head.ts'
import { problem } from '../middleware/problem.ts'
import { requestId } from '../middleware/request-id.ts'
import { requestLog, stateOf } from '../middleware/request-log.ts'
import { securityHeaders } from '../middleware/security-headers.ts'
import type { Shutdown } from '../middleware/shutdown.ts'
import { logUnsent } from '../http/unsent.ts'

/** Makes the endpoint: 200 with an empty body for a message that was taken, also for one that was taken before. */
export function createDidcommApp(agent: Agent, shutdown?: Shutdown): Koa {
  const app = new Koa()
  const maxBytes = agent.config.DIDCOMM_MAX_RECEIVE_BYTES
  app.on('error', logUnsent(agent.log))
  if (shutdown) app.use(shutdown.middleware)
  app.use(requestId)
  app.use(securityHeaders(agent.env.urls.didcomm))
  // Why a message was refused is said where it is known.
  app.use(requestLog(agent.log, { failed: 'debug' }))
  app.use(problem)
  app.use(head)
  app.use(fairness(agent.turns, (context) => partyOf(agent, context)))
  app.use(cors(agent.config.AGENT_CORS_ORIGINS))
  if (agent.mediator) app.use(mediatorPages(agent.mediator))
  app.use(
    bodyParser({
      enableTypes: ['text'],
      extendTypes: { text: [encryptedType] },
      textLimit: maxBytes,
      onError: (error) => {
        const isTooLarge = (error as { status?: number }).status === 413
        const detail = isTooLarge
          ? `The message is larger than ${maxBytes} bytes.`
          : `The body cannot be read: ${error.message}.`
        throw new Problem('error:DIDCommControllerError:RequestBodyParsingError', detail, { cause: error })
      },
    }),
  )
  app.use((context) => takeMessage(agent, context).catch((error: unknown) => explain(context, error)))
  return app
}

async function takeMessage(agent: Agent, context: Context): Promise<void> {
  stateOf(context).route = 'POST /{mailbox}'
  const [, token, ...more] = context.path.split('/')
  if (context.method !== 'POST' || token === undefined || more.length > 0) {
    throw new Problem(
      'error:ResourcePathNotFound',
      'This is a DIDComm endpoint: it takes POST / and POST /{mailbox}.',
    )
  }
  if (!context.is(encryptedType)) {
    throw new Problem(
      'error:DIDCommControllerError:InvalidContentType',
      `The content type must be ${encryptedType}.`,
    )
  }
  const envelope = parseEnvelope(context.request.rawBody ?? '')
  if (agent.mediator?.owns(didOf(envelope.kids[0]!))) {
    return takeForMediator(
      agent.mediator,
      context,
      envelope,
      addressOf(context.req, agent.config.MEDIATOR_TRUST_PROXY),
    )
  }
  const state = stateOf(context)
  const walletId = await findWallet(agent, token, envelope.kids)
  state.walletId = walletId
  const work = async (wallet: Wallet) => {
    const unpacked = await unpack(envelope, {
      findPrivateKey: (kids) => findFirstPeerKey(wallet, kids),
      resolve: resolverOf(wallet, didOf(envelope.kids[0]!)),
    })
    const { id, thid = id } = unpacked.message
    state.thids.add(thid)
    await receive(
      forRequest(withQuotas(wallet), state.log, (written) => state.thids.add(written)),
      handlers,
      unpacked,
      addressOf(context.req, agent.config.MEDIATOR_TRUST_PROXY),
    )
  }
  await agent.wallets.use(walletId, work, state.log)
  context.status = 200
  context.body = ''
}

/** Messages are of the wallet that they are for, as far as the address tells. */
async function partyOf(agent: Agent, { path, req }: Context): Promise<string> {
  const walletId = await agent.env.tokens.findWalletId('mailbox', path.slice(1))
  return walletId === undefined
    ? `address ${addressOf(req, agent.config.MEDIATOR_TRUST_PROXY)}`
    : `mailbox of ${walletId}`
}

/** Says in the log why a message was refused, which the log of requests does not know; never what the message says. Failures of 500 and above are logged as those of every request. */
function explain(context: Context, error: unknown): never {
  const { log, walletId, thids } = stateOf(context)
  if (error instanceof Problem && error.status < 500)
    log.info(
      { type: error.type, status: error.status, reason: error.message, walletId, thids: [...thids] },
      'a DIDComm message was refused',
    )
  // What cannot be reached, and where the operator has it, is not for strangers.
  if (isTemporary(error))
    throw new Problem(error.type, 'The message cannot be judged now. Send it again later.', { cause: error })
  throw error
}

/** The wallet that a mailbox in the address, or in the service of the recipient's DID, was made for. */
async function findWallet(agent: Agent, token: string, kids: string[]): Promise<string> {
  const mailbox = token === '' ? await mailboxOf(agent, kids[0]!) : token
  const walletId = await agent.env.tokens.findWalletId('mailbox', mailbox)
  if (walletId === undefined)
    throw new Problem(
      'error:DIDCommControllerError:RecipientNotFound',
      'No wallet of this agent is the recipient of the message.',
    )
  return walletId
}

async function mailboxOf(agent: Agent, kid: string): Promise<string> {
  // Anybody names any DID here; ours are did:peer.
  const document = await peerDidsOnly(agent.env.resolver.document)(didOf(kid)).catch(() => undefined)
  return (document && findEndpoint(document)?.split('/').at(-1)) ?? ''
}
