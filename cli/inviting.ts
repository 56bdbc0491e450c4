/** What commands have that make an invitation, or show one: what it says of itself, and how it is shown. */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from './base-command.ts'
import { chooseQr, qrFlags, type QrChoice, type QrFlags } from './prompts/qr-choice.ts'

/** The flags of an invitation; `dependsOn` names the flag without which there is none. */
export function invitationFlags(dependsOn: string[] = []) {
  return {
    goal: Flags.string({ dependsOn, description: 'what it is for, in words that the other side sees' }),
    'goal-code': Flags.string({ dependsOn, description: 'what it is for, as a code such as issue-vc' }),
    ...qrFlags(dependsOn),
  }
}

type Made = { invitation?: { invitationUrl: string } | undefined }

export abstract class InvitingCommand extends AgentCommand {
  /**
   * Gets ready to show an invitation, before the call that makes its record: what it returns is given the record and shows its invitation, if
   * it has one, before anybody waits for what comes of it; with `--json` that is the record as it was made.
   *
   * @throws {UsageError} when there can be no such QR code.
   */
  protected inviting({ wait, ...flags }: QrFlags & { wait?: string | undefined }) {
    const qr = chooseQr(flags)
    return async (id: string, made: Made): Promise<void> => {
      if (!made.invitation) return
      if (this.isQuiet) this.log(id)
      await this.printQrText(id, this.#linkOf(made.invitation.invitationUrl), qr)
      if (!this.isQuiet && wait === undefined) this.say(`\n${this.#topic}  ${id}`)
      if (wait !== undefined && this.jsonEnabled()) this.logJson(made)
    }
  }

  /** Shows a record's invitation once more, after its fields, and under a QR code if one is asked for; `undefined` is what nobody can accept. */
  protected async showAgain(id: string, url: string | undefined, qr: QrChoice): Promise<void> {
    if (url === undefined) return this.missQr(qr)
    if (!this.isQuiet) this.log()
    await this.printQrText(id, this.#linkOf(url), qr)
  }

  /** An invitation's URL that opens a page of it: the daemon's own, where the API has the Cloud Agent's placeholder. Wallets read `_oob` alone. */
  #linkOf(url: string): string {
    // With --json the code is of the URL in the record.
    return this.jsonEnabled()
      ? url
      : url.replace(/^https:\/\/my\.domain\.com\/path(?=\?)/, `${this.access.url}/invitation`)
  }

  /** Says that there is nothing to make a QR code of, to whoever asks for one. */
  protected missQr(qr: QrChoice): void {
    if (qr) this.say('No QR code: nobody can answer this any more.')
  }

  /** Prints a text under its QR code, nothing of both with `--quiet`, or makes the code's file. */
  protected async printQrText(id: string, text: string, qr: QrChoice): Promise<void> {
    if (qr?.in === 'terminal' && !this.isQuiet && !this.jsonEnabled()) await this.#draw(id, text, qr)
    if (!this.isQuiet) this.log(text)
    if (qr?.in === 'file') await this.#write(id, text, qr)
  }

  async #draw(
    id: string,
    text: string,
    { size, isAsked }: Extract<QrChoice, { in: 'terminal' }>,
  ): Promise<void> {
    // Not before: what only prints a text has no need of it.
    const { drawQr } = await import('./prompts/qr.ts')
    const { renderingsFor } = await import('./prompts/qr-terminal.ts')
    // Whoever asks for a code wants it in a pipe too, which has no width.
    const tried = renderingsFor(size, { isTTY: isAsked || process.stdout.isTTY })
    if ('reason' in tried) {
      if (isAsked) this.say(`No QR code: ${tried.reason}.`)
      return
    }
    const { columns, rows } = process.stdout
    // The prompt takes a line as well; a code that scrolls cannot be scanned.
    const qr = drawQr(text, { columns, rows: rows && rows - 1 }, tried)
    const show = (as: string) => this.forSameDaemon(`agent ${this.#topic} show ${id} --qr ${as}`)
    if ('lines' in qr) {
      this.log(qr.lines.join('\n'))
      if (qr.rendering === 'quadrants')
        this.say(`Half as wide as it should be, to fit. If a phone does not read it: ${show('png')}`)
      else if (qr.rendering !== size) this.say('Drawn smaller than asked for, to fit.')
    } else if (qr.isTooLong) this.say(`No QR code: ${qr.reason}.`)
    else
      this.say(
        `No QR code: ${qr.reason}.\nAs a picture: ${show('png')}\nOnce the letters are smaller, or the window larger: ${show(size)}`,
      )
  }

  async #write(id: string, text: string, { format, file }: Extract<QrChoice, { in: 'file' }>): Promise<void> {
    const { writeQr } = await import('./prompts/qr-file.ts')
    const name = file ?? `${this.#topic}-${id}.${format}`
    writeQr(text, format, name)
    this.say(`QR code: ${name}`)
  }

  get #topic(): string {
    return this.id!.split(':')[0]!
  }
}
