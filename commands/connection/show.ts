/** `agent connection show` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../_base.ts'
import { explain } from '../_format/states.ts'

export default class ConnectionShow extends AgentCommand {
  static override summary = 'Show a connection'
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the connection' }) }

  async run() {
    const { args } = await this.parse(ConnectionShow)
    const shown = await this.call('GET /connections/{connectionId}', { path: { connectionId: args.id } })
    const { connectionId, role, state, invitation, metaLastFailure } = shown
    const isOpen = state === 'InvitationGenerated'
    this.print(connectionId, [
      ['connection', connectionId],
      ['role', role],
      ['state', explain('connection', state)],
      ['label', shown.label],
      ['goal', shown.goal],
      ['my DID', shown.myDid],
      ['their DID', shown.theirDid],
      ['created', shown.createdAt],
      ['updated', shown.updatedAt],
      ['last failure', metaLastFailure?.detail ?? metaLastFailure?.title],
    ])
    // Cut by nothing: it is there to be copied.
    if (isOpen && !this.isQuiet) this.log(`\n${invitation.invitationUrl}`)
    return shown
  }
}
