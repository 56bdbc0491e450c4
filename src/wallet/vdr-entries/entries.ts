/** VDR entries: byte strings with an owner, which anyone finds by a URL. Drivers store them. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import type { Environment } from '../environment.ts'
import type { Wallet } from '../wallet.ts'
import { createDatabaseDriver } from './database-driver.ts'
import type { Driver } from './driver.ts'
import { createLedgerDriver } from './ledger-driver.ts'
import { createMemoryDriver } from './memory-driver.ts'
import { type DriverName, parseEntryUrl, toEntryUrl } from './url.ts'

const EntryUrl = z.string().describe('The URL of the entry.')
const OperationId = z
  .string()
  .optional()
  .describe('The operation on the ledger, for `GET /vdr/operations/{operationId}`. Absent without a ledger.')

export const CreateVdrEntryResponse = z
  .object({ url: EntryUrl, operationId: OperationId })
  .meta({ id: 'CreateVdrEntryResponse' })
export const UpdateVdrEntryResponse = z
  .object({ url: EntryUrl, operationId: OperationId })
  .meta({ id: 'UpdateVdrEntryResponse' })
export const DeleteVdrEntryResponse = z
  .object({ operationId: OperationId })
  .meta({ id: 'DeleteVdrEntryResponse' })
export const VdrOperationStatus = z
  .object({
    status: z.enum(['AWAIT_CONFIRMATION', 'CONFIRMED_AND_APPLIED', 'CONFIRMED_AND_REJECTED']),
    details: z.string().optional().describe('Why the ledger rejected the operation.'),
    transactionId: z
      .string()
      .optional()
      .describe('The transaction with the operation. Absent until a NeoPRISM node has it in a block.'),
  })
  .meta({ id: 'VdrOperationStatusResponse' })
export const VdrProof = z
  .object({
    type: z.literal('SHA256'),
    proof: z.string().describe('The SHA-256 digest of the entry, in hexadecimal.'),
  })
  .meta({ id: 'VdrProof' })

/** The drivers that are enabled. The first is the default. */
function driversOf({ config, db, entryMemory, ledger }: Environment): Driver[] {
  const { VDR_DATABASE_DRIVER_ENABLED: hasDatabase, VDR_ENTRIES_PER_WALLET: maxEntries } = config
  return [
    ...(hasDatabase ? [createDatabaseDriver(db, maxEntries)] : []),
    ...(entryMemory ? [createMemoryDriver(entryMemory, maxEntries)] : []),
    ...(config.VDR_LEDGER_DRIVER_ENABLED ? [createLedgerDriver(ledger)] : []),
  ]
}

/** The first enabled driver that a name fits. @throws {Problem} 400 */
function selectDriver(env: Environment, { family, id, version }: DriverName): Driver {
  const drivers = driversOf(env)
  const driver = drivers.find(
    ({ name, aliases = [] }) =>
      (family === undefined || family === name.family) &&
      (id === undefined || id === name.id || aliases.includes(id)) &&
      (version === undefined || version === name.version),
  )
  if (driver) return driver
  const named = Object.entries({ drf: family, drid: id, drv: version })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value!.slice(0, 100)}`)
  const names = drivers.map(({ name }) => `drf=${name.family}&drid=${name.id}&drv=${name.version}`)
  throw new Problem(
    'error:VdrServiceError:DriverNotFound',
    `No VDR driver ${named.join('&')} is enabled. ${names.length === 0 ? 'The operator enables drivers' : `Enabled: ${names.join(', ')}`}.`,
  )
}

/**
 * Stores an entry with the first enabled driver that the name fits.
 *
 * @throws {Problem} 400 for a driver that is not enabled, 507 for too many entries
 */
export async function createEntry(
  wallet: Wallet,
  content: Uint8Array,
  name: DriverName,
  keyRef: string | undefined,
): Promise<z.infer<typeof CreateVdrEntryResponse>> {
  const driver = selectDriver(wallet.env, name)
  const { entryId, ...written } = await driver.create(wallet, content, keyRef)
  return { url: toEntryUrl(driver.name, entryId), ...written }
}

/** The content of an entry of any wallet. @throws {Problem} 400 for the URL, 404 */
export async function readEntry(env: Environment, url: string): Promise<Uint8Array> {
  const { driver, entryId } = find(env, url)
  const content = await driver.find(entryId)
  if (!content) throw entryNotFound('There is no VDR entry at this URL, or it was deleted.')
  return content
}

/** The digest of an entry of any wallet. @throws {Problem} as `readEntry` */
export async function readProof(env: Environment, url: string): Promise<z.infer<typeof VdrProof>> {
  const content = await readEntry(env, url)
  return { type: 'SHA256', proof: createHash('sha256').update(content).digest('hex') }
}

/**
 * Replaces the content of an entry of the wallet.
 *
 * @throws {Problem} 400 for the URL, 404 also for another wallet's entry
 */
export async function updateEntry(
  wallet: Wallet,
  url: string,
  content: Uint8Array,
  keyRef: string | undefined,
): Promise<z.infer<typeof UpdateVdrEntryResponse>> {
  const { driver, entryId } = find(wallet.env, url)
  const written = await driver.update(wallet, entryId, content, keyRef)
  if (!written) throw notOwn()
  return { url: toEntryUrl(driver.name, entryId), ...written }
}

/** Deletes an entry of the wallet. @throws {Problem} as `updateEntry` */
export async function deleteEntry(
  wallet: Wallet,
  url: string,
  keyRef: string | undefined,
): Promise<z.infer<typeof DeleteVdrEntryResponse>> {
  const { driver, entryId } = find(wallet.env, url)
  const written = await driver.remove(wallet, entryId, keyRef)
  if (!written) throw notOwn()
  return written
}

const operationStatuses = {
  pending: 'AWAIT_CONFIRMATION',
  confirmed: 'CONFIRMED_AND_APPLIED',
  rejected: 'CONFIRMED_AND_REJECTED',
} as const

/** The status of an operation on the ledger. @throws {Problem} 404 */
export async function readOperationStatus(
  { ledger }: Environment,
  operationId: string,
): Promise<z.infer<typeof VdrOperationStatus>> {
  const operation = await ledger.getOperation(operationId)
  if (operation) {
    const { status, details, transactionId } = operation
    return {
      status: operationStatuses[status],
      ...(details !== undefined && { details }),
      ...(transactionId !== undefined && { transactionId }),
    }
  }
  if (ledger.hidesPending && /^[0-9a-f]{64}$/i.test(operationId)) return { status: 'AWAIT_CONFIRMATION' }
  throw new Problem('NotFound', 'The ledger knows no operation with this id.')
}

function find(env: Environment, url: string): { driver: Driver; entryId: string } {
  const { driver, entryId } = parseEntryUrl(url, env.urls.rest)
  return { driver: selectDriver(env, driver), entryId }
}

function notOwn(): Problem {
  return entryNotFound(
    'This wallet has no VDR entry at this URL, or it was deleted. Only the wallet that created an entry can change it.',
  )
}

function entryNotFound(detail: string): Problem {
  return new Problem('error:VdrServiceError:VdrEntryNotFound', detail)
}
