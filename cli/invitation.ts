/**
 * Prints invitations and other texts that the other side scans: as text, as a QR code in the terminal, or as
 * a file.
 */
import { writeFileSync } from 'node:fs'
import { isLoopback } from './qr/link.ts'
import * as Flags from '@oclif/core/flags'
import type { Context } from './define-command.ts'
import { CommandError } from './errors/errors.ts'
import { type Expiring, expiresCell } from './format/states.ts'
import { widthOf } from './format/text.ts'
import { typed } from './prompts/missing.ts'
import { qrFlags, type Format, type QrChoice, type QrOutput } from './qr/flags.ts'

/** The flags of an invitation; `dependsOn` names the flag without which none is made. */
export function invitationFlags(dependsOn: string[] = []) {
  return {
    goal: Flags.string({ dependsOn, description: 'purpose, in words that the other side sees' }),
    'goal-code': Flags.string({ dependsOn, description: 'purpose, as a code such as issue-vc' }),
    ...qrFlags(dependsOn),
  }
}

/**
 * A text for the other side. `text` is printed, `code` is in the QR code, `page` is the link for browsers.
 * Without a page, `server` is the URL that the other side calls. `secret` is printed below the code.
 */
export type Scannable = {
  text: string
  code: string
  note?: string | undefined
  secret?: string | undefined
  /** The page is in the code where `code` does not fit. */
  hasPageCode?: boolean
  /** The record does not keep the link: no command shows it again. */
  isShownOnce?: boolean
} & ({ page: string } | { server: string })

export type Invitation = { invitationUrl: string; shortUrl?: string | undefined }

/** Returns the link of an invitation: the short one if there is one and `--long` does not refuse it. */
export function toScannable(
  { isJson, getAccess }: Context,
  { invitationUrl, shortUrl }: Invitation,
  { isLong }: QrChoice,
): Scannable {
  if (shortUrl !== undefined && !isLong) {
    const note = 'Short link. For a wallet that cannot open it, repeat with --long.'
    return { text: shortUrl, code: shortUrl, page: shortUrl, note }
  }
  // With `--json` the URL stays as it is in the record.
  const link = isJson ? invitationUrl : longLink({ invitationUrl, shortUrl }, getAccess().url)
  return { text: link, code: link, page: link }
}

/**
 * The link that contains the whole invitation, below the address of the agent; `url` is the one that commands
 * call. The API has a placeholder of the Cloud Agent there. Wallets read the `_oob` parameter only.
 */
export function longLink({ invitationUrl, shortUrl }: Invitation, url: string): string {
  const base = shortUrl?.replace(/\/i\?.*$/, '') ?? url
  return invitationUrl.replace(/^https:\/\/my\.domain\.com\/path(?=\?)/, `${base}/invitation`)
}

type InvitationContext = Context<object, { wait?: string | undefined }>

/**
 * Prints the invitation of a new record, if it has one. With `--json` and `--wait`, prints the record as it
 * is now; `run` returns the later one.
 */
export function printInvitation(
  context: InvitationContext,
  id: string,
  record: Expiring & { invitation?: Invitation | undefined },
  qr: QrChoice,
): void {
  const { flags, isJson, isQuiet, log, logJson, say, sayAtTerminal } = context
  if (!record.invitation) return
  const { text } = toScannable(context, record.invitation, qr)
  log(isQuiet ? id : text)
  const answer = answerLine(text)
  if (flags.wait !== undefined) sayAtTerminal(`\n${answer}`)
  else if (!isQuiet) say([`\n${topicOf(context)}  ${id}`, ...expiryLine(record), answer].join('\n'))
  if (flags.wait !== undefined && isJson) logJson(record)
}

/** The longest link that is repeated in a command, in characters. */
const longestRepeated = 100

/** The command with which another agent answers a link. A wallet on a phone scans the QR code instead. */
export function answerLine(link: string): string {
  return `The other side types: agent accept ${link.length > longestRepeated ? '<link>' : typed([link])}`
}

function expiryLine(record: Expiring): string[] {
  const expires = expiresCell(record)
  return expires === undefined ? [] : [`expires ${expires}`]
}

export async function drawInvitation(
  context: Context,
  id: string,
  { invitation }: { invitation?: Invitation | undefined },
  qr: QrChoice,
): Promise<void> {
  if (invitation) await draw(context, id, toScannable(context, invitation, qr), qr)
}

/**
 * Prints and draws the invitation of an existing record below its fields. It is undefined when it cannot be
 * accepted any more.
 */
export async function printInvitationAgain(
  context: Context,
  id: string,
  invitation: Invitation | undefined,
  qr: QrChoice,
): Promise<void> {
  if (!invitation) return warnNoQr(context, qr)
  if (!context.isQuiet) context.log(`\n${toScannable(context, invitation, qr).text}`)
  await drawInvitation(context, id, { invitation }, qr)
}

/** Warns that there is nothing to draw or to open, if that was requested. */
export function warnNoQr({ say }: Context, { output, isOpened }: QrChoice): void {
  if (output) say('No QR code: it can no longer be answered.')
  else if (isOpened) say('No page was opened: it can no longer be answered.')
}

/**
 * Draws a QR code in the terminal, as the last output of the command or before it waits, so that it stays on
 * the screen; or writes it to a file. Opens its page with `--open`.
 *
 * @throws {CommandError} when the file cannot be written.
 */
export async function draw(
  context: Context,
  id: string,
  scannable: Scannable,
  { output, isLong, isOpened }: QrChoice,
): Promise<void> {
  const { isJson, isQuiet, say } = context
  if (isOpened && 'page' in scannable) {
    const { openLink } = await import('./qr/open-link.ts')
    const reason = await openLink(scannable.page)
    if (reason !== undefined) say(`The browser was not opened: ${reason}.`)
  }
  if (output?.in === 'file') {
    const name = output.file ?? `${topicOf(context)}-${id}.${output.format}`
    await writeQr(scannable.code, output.format, name)
    say(`QR code: ${name}`)
  }
  if (output?.in === 'terminal' && !isQuiet && !isJson)
    await drawInTerminal(context, scannable, output, `${id}${isLong ? ' --long' : ''}`)
}

/** @throws {CommandError} */
async function writeQr(text: string, format: Format, file: string): Promise<void> {
  const { toImage } = await import('./qr/files.ts')
  const image = toImage(text, format)
  if (typeof image === 'object' && 'reason' in image)
    throw new CommandError(`There is no QR code: ${image.reason}.`, 1)
  try {
    writeFileSync(file, image, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new CommandError(
        `The file ${file} exists and was not changed. Choose another name with --qr-file.`,
        1,
      )
    throw new CommandError(`The QR code cannot be written: ${(error as Error).message}.`, 1)
  }
}

/**
 * Draws a code as the last output but for short notes, or says why there is none. `shown` are the arguments
 * of the command that shows it again.
 */
async function drawInTerminal(
  context: Context,
  scannable: Scannable,
  output: Extract<QrOutput, { in: 'terminal' }>,
  shown: string,
): Promise<void> {
  const { forSameDaemon, log, say } = context
  const { code, note } = scannable
  const hasPage = 'page' in scannable
  // Loaded here, because most commands draw no QR code.
  const { drawForTerminal } = await import('./qr/terminal.ts')
  const whole = drawForTerminal(code, output)
  // A page has a short link, and the code for wallets.
  const ofPage = 'reason' in whole && !whole.isFinal && hasPage && scannable.hasPageCode
  const drawn = ofPage ? drawForTerminal(scannable.page, output) : whole
  if ('reason' in drawn) {
    const again = forSameDaemon(`agent ${topicOf(context)} show ${shown} --open`)
    const ofRecord = scannable.isShownOnce ? undefined : `Page or picture (--qr png):\n  ${again}`
    const picture = hasPage
      ? (ofRecord ?? `Its page has one: ${scannable.page}`)
      : '--qr png writes a picture.'
    const elsewhere = drawn.isFinal ? '' : ` ${picture}`
    if (drawn.reason !== '') say(`No QR code: ${drawn.reason}.${elsewhere}`)
    return
  }
  const local = `This computer only. For phones: ${forSameDaemon('agent daemon restart --lan')}`
  const { secret } = scannable
  const withLink = [hasPage ? scannable.page : undefined, secret]
    .filter((each) => each !== undefined)
    .join('   ')
  // The link is above too: it must not push the code off the screen.
  const last = widthOf(withLink) <= drawn.columns && drawn.room > 0 ? withLink : (secret ?? '')
  const notes = [
    ...(ofPage
      ? [`The code is the page, which has the code for wallets: that one is larger than this terminal.`]
      : []),
    ...(isLoopback(hasPage ? scannable.page : scannable.server) ? [local] : []),
    ...(note === undefined ? [] : [note]),
  ]
  let room = drawn.room - (last === '' ? 0 : 1)
  const below = notes.filter((text) => {
    const lines = Math.ceil(widthOf(text) / drawn.columns) || 1
    const fits = lines <= room
    if (fits) room -= lines
    return fits
  })
  // A note that has no room below the code stands above it.
  for (const text of notes) if (!below.includes(text)) say(text)
  log(`\n${drawn.code}`)
  for (const text of below) say(text)
  if (last !== '') say(last)
}

/** The topic of the command, such as `connection`. */
function topicOf({ name }: Context): string {
  return name.split(' ')[1]!
}
