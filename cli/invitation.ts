/** Prints invitations and other texts that the other side scans: as text, as a QR code in the terminal, or as a file. */
import * as Flags from '@oclif/core/flags'
import type { Context } from './define-command.ts'
import { qrFlags, type QrChoice } from './prompts/qr-file.ts'

/** The flags of an invitation; `dependsOn` names the flag without which none is made. */
export function invitationFlags(dependsOn: string[] = []) {
  return {
    goal: Flags.string({ dependsOn, description: 'purpose, in words that the other side sees' }),
    'goal-code': Flags.string({ dependsOn, description: 'purpose, as a code such as issue-vc' }),
    ...qrFlags(dependsOn),
  }
}

type InvitationContext = Context<object, { wait?: string | undefined }>

/**
 * Prints the invitation of a new record, if it has one, before the command waits for an answer. With `--json` and `--wait`, prints the
 * record as it is now; `run` returns the later one.
 */
export async function printInvitation(
  context: InvitationContext,
  id: string,
  record: { invitation?: { invitationUrl: string } | undefined },
  qr: QrChoice,
): Promise<void> {
  const { flags, isJson, isQuiet, log, logJson, say } = context
  if (!record.invitation) return
  if (isQuiet) log(id)
  await printQrText(context, id, toLink(context, record.invitation.invitationUrl), qr)
  if (!isQuiet && flags.wait === undefined) say(`\n${topicOf(context)}  ${id}`)
  if (flags.wait !== undefined && isJson) logJson(record)
}

/** Prints the invitation of an existing record below its fields. `url` is undefined when it cannot be accepted any more. */
export async function printInvitationAgain(
  context: Context,
  id: string,
  url: string | undefined,
  qr: QrChoice,
): Promise<void> {
  if (url === undefined) return warnNoQr(context, qr)
  if (!context.isQuiet) context.log()
  await printQrText(context, id, toLink(context, url), qr)
}

/** Warns that there is nothing to draw, if a QR code was requested. */
export function warnNoQr({ say }: Context, qr: QrChoice): void {
  if (qr) say('No QR code: it can no longer be answered.')
}

/** Prints a text below its QR code, or writes the QR code to a file. With `--quiet`, prints neither. */
export async function printQrText(context: Context, id: string, text: string, qr: QrChoice): Promise<void> {
  const { isJson, isQuiet, log, say } = context
  if (qr?.in === 'terminal' && !isQuiet && !isJson) await drawQrText(context, id, text, qr)
  if (!isQuiet) log(text)
  if (qr?.in === 'file') {
    const { writeQr } = await import('./prompts/qr-file.ts')
    const name = qr.file ?? `${topicOf(context)}-${id}.${qr.format}`
    writeQr(text, qr.format, name)
    say(`QR code: ${name}`)
  }
}

/**
 * The URL of an invitation with a host that serves its page: the API has a placeholder of the Cloud Agent there. Wallets read the `_oob`
 * parameter only. With `--json` the URL stays as it is in the record.
 */
function toLink({ isJson, getAccess }: Context, url: string): string {
  return isJson ? url : url.replace(/^https:\/\/my\.domain\.com\/path(?=\?)/, `${getAccess().url}/invitation`)
}

async function drawQrText(
  context: Context,
  id: string,
  text: string,
  { size, isAsked }: Extract<QrChoice, { in: 'terminal' }>,
): Promise<void> {
  const { forSameDaemon, log, say } = context
  // Loaded here, because most commands draw no QR code.
  const { drawQr } = await import('./prompts/qr.ts')
  const { renderingsFor } = await import('./prompts/qr.ts')
  // A requested QR code is drawn in a pipe too, which has no width.
  const tried = renderingsFor(size, { isTTY: isAsked || process.stdout.isTTY })
  if ('reason' in tried) {
    if (isAsked) say(`No QR code: ${tried.reason}.`)
    return
  }
  const { columns, rows } = process.stdout
  // One line is for the prompt: a QR code that scrolls cannot be scanned.
  const qr = drawQr(text, { columns, rows: rows && rows - 1 }, tried)
  const show = (as: string) => forSameDaemon(`agent ${topicOf(context)} show ${id} --qr ${as}`)
  if ('lines' in qr) {
    log(qr.lines.join('\n'))
    if (qr.rendering === 'quadrants')
      say(`Half as wide as it should be, to fit. If a phone does not read it: ${show('png')}`)
    else if (qr.rendering !== size) say('Drawn smaller than requested, to fit.')
  } else if (qr.isTooLong) say(`No QR code: ${qr.reason}.`)
  else
    say(
      `No QR code: ${qr.reason}.\nAs a picture: ${show('png')}\nOnce the letters are smaller, or the window larger: ${show(size)}`,
    )
}

/** The topic of the command, such as `connection`. */
function topicOf({ name }: Context): string {
  return name.split(' ')[1]!
}
