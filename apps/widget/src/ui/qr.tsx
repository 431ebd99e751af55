import { encode } from 'uqr';

/** A QR code as one path, run by run: no markup is made from text. */
export function qrPath(rows: readonly (readonly boolean[])[]): string {
  return rows
    .flatMap((row, y) =>
      row.map((isDark, x) => {
        if (!isDark || row[x - 1] === true) return '';
        const end = row.indexOf(false, x);
        return `M${x} ${y}h${(end === -1 ? row.length : end) - x}v1H${x}z`;
      }),
    )
    .join('');
}

export function QrCode({
  text,
  label,
  testId,
}: {
  readonly text: string;
  readonly label: string;
  readonly testId?: string;
}) {
  const { data, size } = encode(text, { ecc: 'M', border: 2 });
  return (
    <div class="qr" data-testid={testId}>
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
        <path d={qrPath(data)} fill="currentColor" />
      </svg>
    </div>
  );
}
