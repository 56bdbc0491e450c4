/** Requests with headers that `fetch` sets by itself. */
import { request } from 'node:http'

/** Returns the status of a health request with these headers. */
export function statusWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/_system/health`, { headers }, (response) =>
      resolve(response.resume().statusCode),
    )
    sent.on('error', reject).end()
  })
}
