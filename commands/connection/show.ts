/** `agent connection show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'
import { connectionFields } from '../_format/connection.ts'

export default class ConnectionShow extends AgentCommand {
  static override summary = 'Show a connection'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the connection' }) }

  async run() {
    const { args } = await this.parse(ConnectionShow)
    const shown = await this.call('GET /connections/{connectionId}', { path: { connectionId: args.id } })
    const { connectionId, state, invitation } = shown
    const isOpen = state === 'InvitationGenerated'
    this.print(connectionId, connectionFields(shown))
    // Cut by nothing: it is there to be copied.
    if (isOpen && !this.isQuiet) this.log(`\n${invitation.invitationUrl}`)
    return shown
  }
}
