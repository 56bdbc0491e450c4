/** What an invitation is for, looked at before it is taken. What it holds is for the daemon to judge. */
import { UsageError } from '../../errors/errors.ts'

export type Kind = 'connection' | 'offer' | 'request'

/** @throws {UsageError} for a text that is no invitation. */
export function readInvitation(text: string): { kind: Kind; oob: string; goal: string | undefined } {
  // Pasted from a terminal, it may come with the breaks of its lines.
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

type Said = { body?: { goal?: unknown } | null; attachments?: unknown[] }

function parse(oob: string): Said {
  try {
    const said: unknown = JSON.parse(Buffer.from(oob, 'base64url').toString())
    if (typeof said === 'object' && said !== null) return said
  } catch {
    // Told below.
  }
  throw new UsageError(
    'That is no invitation: paste the whole URL, which has an _oob parameter, or that parameter’s value.',
  )
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
