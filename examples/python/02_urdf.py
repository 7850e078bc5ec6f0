"""
A model from URDF
=================

From a path or from text. What looks wrong is said in a warning that names the link.
"""

import warnings

import numpy as np
import zveno as zv

URDF = """
<robot name="lift">
  <link name="base"/>
  <link name="carriage">
    <inertial>
      <mass value="12"/>
      <inertia ixx="0.2" iyy="0.3" izz="0.9" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <link name="arm">
    <inertial>
      <origin xyz="0.3 0 0"/>
      <mass value="5"/>
      <inertia ixx="0.01" iyy="0.15" izz="0.15" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="column" type="prismatic">
    <parent link="base"/> <child link="carriage"/>
    <axis xyz="0 0 1"/> <limit lower="0" upper="1.2" velocity="0.5" effort="400"/>
  </joint>
  <joint name="shoulder" type="continuous">
    <parent link="carriage"/> <child link="arm"/>
    <origin xyz="0.1 0 0.2"/> <axis xyz="0 0 1"/>
  </joint>
</robot>
"""

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    lift = zv.Chain.from_urdf(URDF)
for warning in caught:
    print("warning:", warning.message)

print(lift)
print("joints      ", dict(zip(lift.joint_names, lift.joint_types, strict=True)))
print("limits      ", lift.lower, lift.upper)
rest = np.zeros(lift.n)
print("holding     ", lift.inverse_dynamics(rest, rest, rest).round(2), "N, N m")
print("on the base ", lift.base_wrench(rest, rest, rest).round(2), "N, N m")
