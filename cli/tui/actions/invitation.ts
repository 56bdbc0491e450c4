/** Accepting a pasted invitation, of its long or its short URL. */
import { ask } from '../../../daemon/client/send-request.ts'
import { UsageError } from '../../errors/errors.ts'
import type { ActionContext } from './action.ts'
import type { PaneName } from '../panes/pane.ts'

export type Kind = 'connection' | 'offer' | 'request'

/** Parses a pasted invitation. @throws {UsageError} for other texts */
export function readInvitation(text: string): { kind: Kind; oob: string; goal: string | undefined } {
  // A paste from a terminal may contain line breaks.
  const given = text.replaceAll(/\s+/g, '')
  const oob = decode(/(?:^|[?&])_oob=([^&#]*)/.exec(given)?.[1] ?? given)
  const { body, attachments } = parse(oob)
  const type = JSON.stringify(attachments ?? [])
  const kind = type.includes('issue-credential')
    ? 'offer'
    : type.includes('present-proof')
      ? 'request'
      : 'connection'
  return { kind, oob, goal: typeof body?.goal === 'string' ? body.goal : undefined }
}

const shortUrl = /^https?:\/\/\S*[?&]_oobid=[^&#]+/

/** Returns the short URL that a pasted text is. Undefined for other texts. */
function toShortUrl(text: string): URL | undefined {
  const given = text.replaceAll(/\s+/g, '')
  return shortUrl.test(given) && URL.canParse(given) ? new URL(given) : undefined
}

/** The size of an invitation that a short URL may return, in bytes, and the time for it in milliseconds. */
const mostBytes = 64_000
const retrievalMs = 10_000

/**
 * Retrieves the invitation of a short URL (DIDComm Out-of-Band 2.0, “Short URL Message Retrieval”). Returns it as base64url.
 * Follows no redirect.
 *
 * @throws {UsageError} when there is none
 */
async function retrieve(url: URL): Promise<string> {
  const failure = (why: string) => new UsageError(`No invitation comes from ${url.host}: ${why}.`)
  const headers = { accept: 'application/json' }
  const asked = ask(url, { headers, signal: AbortSignal.timeout(retrievalMs) })
  const response = await asked.catch((error: Error) => {
    throw failure(error.name === 'TimeoutError' ? `no answer within ${retrievalMs / 1_000} s` : error.message)
  })
  if (response.statusCode !== 200) {
    response.destroy()
    throw failure(`status ${response.statusCode}. It may be expired, answered or withdrawn`)
  }
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > mostBytes) throw failure(`more than ${mostBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('base64url')
}

type Invitation = { body?: { goal?: unknown } | null; attachments?: unknown[] }

function parse(oob: string): Invitation {
  try {
    const invitation: unknown = JSON.parse(Buffer.from(oob, 'base64url').toString())
    if (typeof invitation === 'object' && invitation !== null) return invitation
  } catch {
    // Reported below.
  }
  throw new UsageError(
    'This is not an invitation. Paste the whole URL with its _oob or _oobid parameter, or the value of _oob.',
  )
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const kinds: Record<
  Kind,
  {
    asks: string
    accept: (context: ActionContext, invitation: string) => Promise<unknown>
    pane: PaneName
    done: string
  }
> = {
  connection: {
    asks: 'asks to connect',
    accept: (context, invitation) => context.call('POST /connection-invitations', { body: { invitation } }),
    pane: 'connections',
    done: 'The invitation is accepted. The request is on its way to the other side.',
  },
  offer: {
    asks: 'offers a credential',
    accept: (context, invitation) =>
      context.call('POST /issue-credentials/credential-offers/accept-invitation', { body: { invitation } }),
    pane: 'credentials',
    done: 'The offer has arrived: a accepts it.',
  },
  request: {
    asks: 'asks for a proof',
    accept: (context, invitation) =>
      context.call('POST /present-proof/presentations/accept-invitation', { body: { invitation } }),
    pane: 'proofs',
    done: 'The request has arrived: p presents.',
  },
}

export async function acceptInvitation(context: ActionContext, pasted = ''): Promise<string | undefined> {
  const fields = [
    {
      name: 'invitation',
      label: 'invitation',
      value: pasted,
      hint: 'paste its URL, or the value of its _oob parameter',
    },
  ]
  const values = await context.fill('Accept an invitation', fields, {
    check: ({ invitation = '' }) => toShortUrl(invitation) ?? readInvitation(invitation),
  })
  if (!values) return undefined
  const given = values.invitation ?? ''
  const short = toShortUrl(given)
  if (short) context.say('Retrieving the invitation …')
  const { kind, oob, goal } = readInvitation(short ? await retrieve(short) : given)
  const { asks, accept, pane, done } = kinds[kind]
  const lines = [goal === undefined ? 'It names no purpose.' : `Purpose: “${goal}”`]
  if (!(await context.confirm(`The invitation ${asks}. Accept it?`, lines))) return undefined
  context.say('Accepting the invitation …')
  await accept(context, oob)
  context.goTo(pane)
  return done
}
