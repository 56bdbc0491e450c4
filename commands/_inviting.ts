/** What commands have that make an invitation: what it says of itself, and how it is shown. */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from './_base.ts'
import { drawQr } from './_ui/qr.ts'

/** The flags of an invitation; `dependsOn` names the flag without which there is none. */
export function invitationFlags(dependsOn: string[] = []) {
  return {
    goal: Flags.string({ dependsOn, description: 'what it is for, in words that the other side sees' }),
    'goal-code': Flags.string({ dependsOn, description: 'what it is for, as a code such as issue-vc' }),
    qr: Flags.boolean({ dependsOn, description: 'draw the QR code, or do not; when left out, only on a terminal', allowNo: true }),
  }
}

export abstract class InvitingCommand extends AgentCommand {
  /** Shows a record's invitation, if it has one, before anybody waits for what comes of it; with `--json` that is the record as it was made. */
  protected showInvitation(
    id: string,
    made: { invitation?: { invitationUrl: string } | undefined },
    { qr, wait }: { qr?: boolean | undefined; wait?: string | undefined },
  ): void {
    if (!made.invitation) return
    this.printInvitation(id, made.invitation.invitationUrl, qr)
    if (wait !== undefined && this.jsonEnabled()) this.logJson(made)
  }

  /** Prints an invitation's URL, under a QR code when one is asked for or there is a terminal it fits into; the record's id with `--quiet`. */
  protected printInvitation(id: string, url: string, wantsQr: boolean | undefined): void {
    if (this.isQuiet) return this.log(id)
    const { columns, rows, isTTY } = process.stdout
    if (wantsQr ?? isTTY) {
      const qr = drawQr(url, { columns, rows })
      if ('lines' in qr) this.log(qr.lines.join('\n'))
      else this.say(`No QR code: ${qr.reason}.`)
    }
    this.log(url)
  }
}
