/** `agent proof list` */
import { AgentCommand } from '../../cli/base-command.ts'
import { presentationColumns } from '../../cli/format/records.ts'
import { recordFlags, toRecordQuery } from '../../cli/input/filters.ts'

export default class ProofList extends AgentCommand {
  static override summary = 'List the presentation records: asked for, received and presented'
  static override examples = ['<%= config.bin %> proof list', '<%= config.bin %> proof list --quiet']
  static override flags = recordFlags

  async run() {
    const { flags } = await this.parse(ProofList)
    const page = await this.call('GET /present-proof/presentations', { query: toRecordQuery('proof', flags) })
    this.printList(
      page.contents,
      ({ presentationId }) => presentationId,
      presentationColumns,
      'There are no presentation records. `agent proof request` makes one.',
    )
    this.sayMore(page, flags)
    return page
  }
}
