/** `/audit`: the audit log, for the administrator. */
import * as z from 'zod'
import { AuditEntry, Filter } from '../../src/wallet/audit/entry.ts'
import { AuditVerification, Head } from '../../src/wallet/audit/verify.ts'
import { Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

export default [
  route(
    'GET /audit',
    {
      summary: 'List the entries of the audit log, newest first',
      operationId: 'listAuditEntries',
      extension: true,
      access: 'admin',
      query: Paging.omit({ order: true }).extend(Filter.shape),
      reply: [200, Page('AuditPage', AuditEntry, 'AuditPage')],
    },
    async ({ agent }, { query: { offset, limit, ...filter }, target }) => {
      // Read one entry more than the page to learn whether there is a next page. Counting all would be slow.
      const found = await agent.audit.list(filter, { offset, limit: limit + 1 })
      return toPage(
        'AuditPage',
        { target, offset, limit, total: offset + found.length },
        found.slice(0, limit),
      )
    },
  ),

  route(
    'GET /audit/verification',
    {
      summary: 'Verify that the audit log is unaltered',
      operationId: 'verifyAuditLog',
      extension: true,
      access: 'admin',
      query: z.object({
        head: Head.optional().describe(
          'The head of an earlier verification, which the log must still contain.',
        ),
      }),
      reply: [200, AuditVerification],
    },
    ({ agent }, { query: { head } }) => agent.audit.verify(head),
  ),
] as const
