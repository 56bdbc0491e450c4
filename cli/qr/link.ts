/** The reach of the link in a QR code. */

/** True for a link that only this computer reaches. */
export function isLoopback(link: string): boolean {
  const { hostname } = new URL(link)
  return /^(?:127\.[\d.]+|0\.0\.0\.0|\[::1?\]|(?:.+\.)?localhost)$/.test(hostname)
}
