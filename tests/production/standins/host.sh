#!/bin/bash
# A host of its own for docs/production.md: this machine's files below an overlay, with its own network, processes and names. What is
# written goes to memory and ends with it. Runs inside `unshare --mount --net --pid --fork`.
#   host.sh CHECKOUT PYTHON SCRIPT REPORT
set -euo pipefail
checkout=$1 python=$2 script=$3 report=$4

mount --make-rprivate /
mount -t tmpfs -o size=6g tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
mount --rbind /dev /mnt/root/dev
mount -t proc proc /mnt/root/proc
mount -t tmpfs -o mode=755 tmpfs /mnt/root/run
mount -t tmpfs -o mode=1777 tmpfs /mnt/root/tmp
mount --bind "$(dirname "$report")" /mnt/root/media
ip link set lo up

install -m 644 "$script" /mnt/root/root/guide.sh
cat >/mnt/root/root/begin.sh <<END
set -euo pipefail
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
here=$checkout/tests/production/standins
install -d -o postgres -g postgres /run/postgresql
install -d /run/nginx
userdel mailqueue 2>/dev/null || true
rm -rf /var/lib/mailqueue /opt/mailqueue /var/lib/pgbackrest
echo '127.0.0.1 localhost api.example.com console.example.com links.example.com smtp.example.com' >/etc/hosts

printf '#!/bin/sh\nexec /usr/bin/python3 %s/systemctl.py "\$@"\n' "\$here" >/usr/local/bin/systemctl
printf '#!/bin/sh\nexit 0\n' >/usr/local/bin/apt-get
cat >/usr/local/bin/certbot <<'STANDIN'
#!/bin/sh
curl --fail --silent --output /dev/null http://api.example.com/ || exit 1
STANDIN
cat >/usr/local/bin/git <<'STANDIN'
#!/bin/bash
set -euo pipefail
for folder; do :; done
mkdir "\$folder"
cd $checkout
/usr/bin/git -c safe.directory='*' ls-files -co --exclude-standard -z | tar --null --files-from=- --create --ignore-failed-read | tar --extract --directory="\$folder"
STANDIN
chmod 755 /usr/local/bin/*

# The certificate of the names, which this host trusts.
install -d /etc/letsencrypt/live/api.example.com
cd /etc/letsencrypt/live/api.example.com
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=api.example.com \
    -addext 'subjectAltName=DNS:api.example.com,DNS:console.example.com,DNS:links.example.com,DNS:smtp.example.com' \
    -keyout privkey.pem -out fullchain.pem 2>/dev/null
cat fullchain.pem >>/etc/ssl/certs/ca-certificates.crt
cp fullchain.pem "/etc/ssl/certs/\$(openssl x509 -noout -hash -in fullchain.pem).0"
cd /
mkdir -p /root/relay
openssl rand -hex 16 >/root/relay.password
$python \$here/relay.py /root/relay /etc/letsencrypt/live/api.example.com/fullchain.pem \
    /etc/letsencrypt/live/api.example.com/privkey.pem /root/relay.password >/root/relay.log 2>&1 &
$python \$here/arguments.py /root/arguments &
unset PYTHONPATH PIP_REQUIRE_VIRTUALENV
export PIP_NO_INDEX=1 PIP_FIND_LINKS=/media/wheels PIP_CONFIG_FILE=/dev/null
bash /root/guide.sh
$python \$here/checks.py >/media/$(basename "$report")
END
exec chroot /mnt/root /bin/bash /root/begin.sh
